"""Where a sweep runs: settings and their checks, before Ray is started or joined."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 5.0  # seconds


@dataclass
class Cluster:
    """Where models are trained.

    address: host:port of a running Ray cluster, or auto for the one started on this machine;
        RAY_ADDRESS if unset, else a Ray of our own on this machine.
    num_cpus: worker processes on this machine (all cores if unset).
    num_gpus: GPUs on this machine, or with an address any number above 0.
    cpus_per_shard: cores that a shard keeps for itself; it trains on one thread, so more than 1
        only leaves it more of a node's memory.
    gpus_per_shard: GPUs that a shard keeps for itself where num_gpus is above 0; a fraction puts
        several shards on one (a whole one if unset, or num_gpus if that is less).
    models_per_shard: models a task, rounded up to whole stacks; chosen for you if unset.
    max_pending: shards that wait on the cluster beyond those that run: they keep workers busy and
        tell an autoscaler to grow.
    max_retries: how often a shard is tried again after its worker died.
    """

    address: str | None = None
    num_cpus: int | None = None
    num_gpus: float = 0
    cpus_per_shard: float = 1
    gpus_per_shard: float | None = None
    models_per_shard: int | None = None
    max_pending: int = 4
    max_retries: int = 3

    @property
    def device(self) -> str:
        """Follows from the request: a task without a GPU may still see one."""
        return "cuda" if self.num_gpus > 0 else "cpu"

    @property
    def gpu_share(self) -> float:
        """GPUs a shard; 0 on the CPU."""
        if self.num_gpus <= 0:
            return 0
        return min(1, self.num_gpus) if self.gpus_per_shard is None else self.gpus_per_shard

    @property
    def resolved_address(self) -> str:
        return self.address or os.environ.get("RAY_ADDRESS") or "local"

    @property
    def is_local(self) -> bool:
        return self.resolved_address == "local"

    def check(self) -> None:
        """Raises ValueError with one sentence for settings that cannot work."""
        self._check_numbers()
        if not self.is_local:
            _check_answers(self.resolved_address)
            return
        if self.num_gpus > 0:
            _check_local_gpus(self.num_gpus)
        here = self.num_cpus or os.cpu_count() or 1
        if self.cpus_per_shard > here:
            raise ValueError(
                f"cluster.cpus_per_shard={self.cpus_per_shard:g}: there are {here} CPUs on this "
                "machine; give at most as many."
            )

    def _check_numbers(self) -> None:
        for key in ("num_cpus", "models_per_shard"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise ValueError(f"cluster.{key}={value}: must be at least 1, or null.")
        for key in ("num_gpus", "max_retries", "max_pending"):
            value = getattr(self, key)
            if not value >= 0:
                raise ValueError(f"cluster.{key}={value:g}: must be at least 0.")
        for key in ("cpus_per_shard", "gpus_per_shard"):
            value = getattr(self, key)
            if value is not None and not (0 < value < 1 or (value >= 1 and value == int(value))):
                raise ValueError(
                    f"cluster.{key}={value:g}: must be a whole number, or a fraction of 1 above 0."
                )
        if self.gpus_per_shard is not None and self.gpus_per_shard > self.num_gpus:
            raise ValueError(
                f"cluster.gpus_per_shard={self.gpus_per_shard:g}: cluster.num_gpus="
                f"{self.num_gpus:g} is less; set cluster.num_gpus too."
            )


def has_token() -> bool:
    """Whether Ray's token is where Ray looks for it."""
    given = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    return bool(given) or (Path.home() / ".ray" / "auth_token").exists()


def no_answer(address: str) -> ValueError:
    """The error for an address at which there is no cluster."""
    return ValueError(
        f"cluster.address={address} (or RAY_ADDRESS): no Ray cluster answers there; check the "
        "address, or leave it out to train on this machine."
    )


def wants_token(address: str) -> ValueError:
    """The error for an address that answers but lets nobody in."""
    return ValueError(
        f"cluster.address={address} (or RAY_ADDRESS): what answers there takes no driver from"
        " here: set RAY_AUTH_TOKEN to the token of the cluster (ray get-auth-token prints it"
        " there), and check that this is the port of its head."
    )


def other_version(address: str) -> ValueError:
    """The error for a cluster that runs another Ray or Python."""
    return ValueError(
        f"cluster.address={address} (or RAY_ADDRESS): the cluster runs another version of Ray or"
        " Python than this machine; install the same ones."
    )


def _check_answers(address: str) -> None:
    """Ask the port first: Ray itself would wait for minutes and end the process."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not (port.isascii() and port.isdigit()):
        raise ValueError(
            f"cluster.address={address} (or RAY_ADDRESS): give host:port of the cluster's head, "
            "such as 10.0.0.1:6379, or auto; to use a job server, send the job with ray job submit."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise no_answer(address) from error


def _check_local_gpus(wanted: float) -> None:
    import torch

    found = torch.cuda.device_count()
    if found < wanted:
        raise ValueError(
            f"cluster.num_gpus={wanted:g}: torch finds {found} CUDA devices on this machine; set "
            "cluster.num_gpus=0, or cluster.address to a cluster that has them."
        )
