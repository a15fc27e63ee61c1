"""A Ray cluster of several real nodes on this machine, each a group of processes of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PATIENCE, _TRIES = 40.0, 8  # seconds a node is given to come up, and how often


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RayNodes:
    """Nodes started by `ray start --block`; `folder` is the current directory of the processes.

    Token authentication is on, with a token of the cluster's own.
    """

    def __init__(self, folder: Path, *, dashboard: bool = False) -> None:
        self.folder, self.dashboard = folder, dashboard
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": "an-unguessable-token-of-the-tests",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",
            "RAY_raylet_start_wait_time_s": f"{_PATIENCE:g}",  # the machine may be busy
            "RAY_agent_register_timeout_ms": f"{1000 * _PATIENCE:g}",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        }
        self.address = f"127.0.0.1:{free_port()}"
        self.job_server = f"http://127.0.0.1:{free_port()}"
        self._nodes: list[subprocess.Popen[bytes]] = []

    def start_head(self) -> None:
        """The first node, with the job server if there is to be one."""
        port, dashboard_port = (url.rpartition(":")[2] for url in (self.address, self.job_server))
        self._start(
            "--head", f"--port={port}", f"--include-dashboard={self.dashboard}",
            "--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard_port}",
        )  # fmt: skip

    def add(self, *, folder: Path | None = None) -> subprocess.Popen[bytes]:
        """One more node, with one CPU."""
        return self._start(f"--address={self.address}", folder=folder)

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """End a node's processes at once, as when its machine loses power."""
        with suppress(ProcessLookupError):
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()

    def end(self) -> None:
        """End all; the head last."""
        for node in reversed(self._nodes):
            self.kill(node)

    def _start(self, *arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        """A node that is up; tried again, since on a busy machine Ray's own patience can end."""
        command = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus=1"]
        command += ["--object-store-memory=80000000", *arguments]
        for _ in range(_TRIES):
            path = self.folder / f"node-{len(self._nodes)}.log"
            with path.open("wb") as log:
                node = subprocess.Popen(
                    [*command, f"--dashboard-agent-listen-port={free_port()}"],
                    cwd=folder or self.folder, env=self.environment,
                    stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip
            self._nodes.append(node)
            if _is_up(node, path):
                return node
            self.kill(node)
        raise AssertionError(path.read_text())


def _is_up(node: subprocess.Popen[bytes], log: Path) -> bool:
    end = time.monotonic() + _PATIENCE
    while "Ray runtime started" not in log.read_text():
        if node.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True
