"""An MLflow server of the test's own, which can be killed and comes back on the same port."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.integration.ray_nodes import free_port

_PATIENCE = 120.0  # seconds until it answers


class MlflowServer:
    """`mlflow server` on loopback with its database and artifacts in `folder`."""

    def __init__(self, folder: Path, migrated: Path) -> None:
        self.folder = folder
        shutil.copyfile(migrated, folder / "server.db")
        port = free_port()
        self.uri = f"http://127.0.0.1:{port}"
        self._command = [
            sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
            "--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/server.db",
            "--artifacts-destination", str(folder / "artifacts"),
        ]  # fmt: skip

    def start(self) -> None:
        off = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        with (self.folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, env=os.environ | off,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + _PATIENCE
        while not self._answers():
            told = (self.folder / "log.txt").read_text()
            assert self._process.poll() is None, told
            assert time.monotonic() < end, told
            time.sleep(0.2)

    def kill(self) -> None:
        """End all its processes at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.uri}/health", timeout=2).close()
        except (urllib.error.URLError, OSError):
            return False
        return True
