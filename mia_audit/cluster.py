"""Where a sweep runs: settings and their checks, before Ray is started or joined."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

_PATIENCE = 5.0  # seconds


@dataclass
class Cluster:
    """Where models are trained.

    address: host:port of a running Ray cluster, or auto for the one started on this machine;
        RAY_ADDRESS if unset, else a Ray of our own on this machine.
    num_cpus: worker processes on this machine (all cores if unset); one thread each.
    num_gpus: GPUs on this machine, or with an address any number above 0: each task then takes
        one GPU, or that fraction of one.
    models_per_shard: models a task, rounded up to whole stacks; chosen for you if unset.
    max_retries: how often a shard is tried again after its worker died.
    """

    address: str | None = None
    num_cpus: int | None = None
    num_gpus: float = 0
    models_per_shard: int | None = None
    max_retries: int = 3

    @property
    def device(self) -> str:
        """Follows from the request: a task without a GPU may still see one."""
        return "cuda" if self.num_gpus > 0 else "cpu"

    @property
    def resolved_address(self) -> str:
        return self.address or os.environ.get("RAY_ADDRESS") or "local"

    @property
    def is_local(self) -> bool:
        return self.resolved_address == "local"

    def check(self) -> None:
        """Raises ValueError with one sentence for settings that cannot work."""
        for key in ("num_cpus", "models_per_shard"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise ValueError(f"cluster.{key}={value}: must be at least 1, or null.")
        for key in ("num_gpus", "max_retries"):
            value = getattr(self, key)
            if value < 0:
                raise ValueError(f"cluster.{key}={value:g}: must be at least 0.")
        if not self.is_local:
            _check_answers(self.resolved_address)
        elif self.num_gpus > 0:
            _check_local_gpus(self.num_gpus)


def no_answer(address: str) -> ValueError:
    """The error for an address at which there is no cluster."""
    return ValueError(
        f"cluster.address={address} (or RAY_ADDRESS): no Ray cluster answers there; check the "
        "address, or leave it out to train on this machine."
    )


def _check_answers(address: str) -> None:
    """Ask the port first: Ray itself would wait for minutes and end the process."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not port.isdigit():
        raise ValueError(
            f"cluster.address={address} (or RAY_ADDRESS): give host:port of the cluster's head, "
            "such as 10.0.0.1:6379, or auto; to use a job server, send the job with ray job submit."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise no_answer(address) from error


def _check_local_gpus(wanted: float) -> None:
    import torch

    found = torch.cuda.device_count()
    if found < wanted:
        raise ValueError(
            f"cluster.num_gpus={wanted:g}: torch finds {found} CUDA devices on this machine; set "
            "cluster.num_gpus=0, or cluster.address to a cluster that has them."
        )
