"""A run that is on MLflow's page while its models are trained.

Whatever goes wrong with it leaves the training alone: it is silent while its server is away.
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
from mia_audit.tracking.setup import Ready, check

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
        self._tracking = tracking
        self._client: MlflowClient = open_client(tracking)
        self._thread = ThreadPoolExecutor(1)
        self._sent: Future[None] | None = None
        self._latest: tuple[Mapping[str, float], int] = ({}, 0)  # metrics and their step
        self._sent_step = 0
        self._next = 0.0
        with suppress(Exception):
            _end_left_over(self._client, ready, key)
            labels = {**tags, "store_key": key, _DRIVER: f"{socket.gethostname()}:{os.getpid()}"}
            run = self._client.create_run(
                ready.experiment_id, int(1000 * started), tags=labels, run_name=name
            )
            self.run_id = run.info.run_id

    def report(self, metrics: Mapping[str, float], *, step: int) -> None:
        """Send the metrics, unless others were sent just now or are still on their way."""
        self._latest = (dict(metrics), step)
        busy = self._sent is not None and not self._sent.done()
        if self.run_id and not busy and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self._sent = self._thread.submit(self._send)

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
            self._end("KILLED" if _is_interruption(error) else "FAILED")
        elif self.run_id:
            self._thread.submit(self._send)

    def _send(self) -> None:
        metrics, step = self._latest
        if step == self._sent_step:
            return
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        points = [Metric(name, value, now, step) for name, value in metrics.items()]
        with suppress(Exception):
            check(self._tracking)  # else it would wait a minute for an answer
            self._client.log_batch(self.run_id, metrics=points)
            self._sent_step = step

    def _end(self, status: str) -> None:
        """End the run, unless it has been ended."""
        with suppress(Exception):
            check(self._tracking)
            if self._client.get_run(self.run_id).info.status == "RUNNING":
                self._client.set_terminated(self.run_id, status)


def _is_interruption(error: BaseException | None) -> bool:
    """Whether a signal is behind it: native code that one ends raises errors of its own."""
    while error is not None and isinstance(error, Exception):
        error = error.__cause__ or error.__context__
    return error is not None


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
