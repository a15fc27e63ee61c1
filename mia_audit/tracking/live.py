"""A run that is on MLflow's page while its models are trained.

Whatever goes wrong with it leaves the training alone: it then falls silent, and the finished audit
is logged as a run of its own.
"""

import os
import socket
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from mia_audit.tracking.address import Tracking
from mia_audit.tracking.client import open_client
from mia_audit.tracking.setup import Ready

if TYPE_CHECKING:
    from mlflow import MlflowClient

_EVERY = 5.0  # seconds between reports
_DRIVER = "mia_audit.driver"


class LiveRun:
    """A run marked RUNNING, with the metrics of a sweep as they come.

    As a context it ends the run (KILLED after an interrupt, else FAILED) when an exception passes;
    without one the run stays open for `log_run`, which finishes it.
    """

    def __init__(
        self,
        tracking: Tracking,
        ready: Ready,
        *,
        name: str,
        tags: Mapping[str, str],
        key: str,
        started: float,
    ) -> None:
        """`key` names the sweep: its runs that a dead driver left behind are ended first."""
        self.run_id = ""
        self._client: MlflowClient = open_client(tracking)
        self._thread = ThreadPoolExecutor(1)
        self._sent: Future[None] | None = None
        self._next = 0.0
        self._is_lost = False
        with suppress(Exception):
            _end_left_over(self._client, ready, key)
            labels = {**tags, "store_key": key, _DRIVER: f"{socket.gethostname()}:{os.getpid()}"}
            run = self._client.create_run(
                ready.experiment_id, int(1000 * started), tags=labels, run_name=name
            )
            self.run_id = run.info.run_id

    def report(self, metrics: Mapping[str, float], *, step: int) -> None:
        """Send the metrics, unless others were sent just now or are still on their way."""
        busy = self._sent is not None and not self._sent.done()
        if self.run_id and not self._is_lost and not busy and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self._sent = self._thread.submit(self._send, dict(metrics), step)

    def fail(self) -> None:
        """No audit will come: the run ends FAILED."""
        self._end("FAILED")

    def __enter__(self) -> "LiveRun":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._end("FAILED" if isinstance(error, Exception) else "KILLED")
        self._thread.shutdown(wait=False)

    def _send(self, metrics: dict[str, float], step: int) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        points = [Metric(name, value, now, step) for name, value in metrics.items()]
        try:
            self._client.log_batch(self.run_id, metrics=points)
        except Exception:
            self._is_lost = True

    def _end(self, status: str) -> None:
        if self.run_id and not self._is_lost:  # else it would wait for an answer
            with suppress(Exception):
                self._client.set_terminated(self.run_id, status)
            self.run_id = ""


def end_left_over(tracking: Tracking, ready: Ready, key: str) -> None:
    """End the runs that dead drivers of the sweep `key` left RUNNING, where there is an answer."""
    with suppress(Exception):
        _end_left_over(open_client(tracking), ready, key)


def _end_left_over(client: "MlflowClient", ready: Ready, key: str) -> None:
    """End the runs of this sweep whose driver, on this host, is gone."""
    query = f"attributes.status = 'RUNNING' and tags.store_key = '{key}'"
    for run in client.search_runs([ready.experiment_id], filter_string=query):
        if _is_gone(run.data.tags.get(_DRIVER, "")):
            client.set_terminated(run.info.run_id, "KILLED")


def _is_gone(driver: str) -> bool:
    host, _, pid = driver.rpartition(":")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
