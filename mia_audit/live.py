"""A sweep's progress on the terminal and, at the same time, in its MLflow run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from mia_audit import tracking
from mia_audit.progress import Progress


class LiveProgress(Progress):
    """Also reports `progress/models_done` and `progress/models_per_second` to the run."""

    def __init__(self, console: Console, run: tracking.LiveRun) -> None:
        super().__init__(console)
        self._run = run

    @contextmanager
    def of(self, planned: int, *, held: int) -> Iterator[None]:
        self._finished, self._started = held, time.monotonic()
        with super().of(planned, held=held):
            yield

    def advance(self, models: int) -> None:
        super().advance(models)
        self._finished += models
        seconds = max(time.monotonic() - self._started, 1e-9)
        rate = (self._finished - self._held) / seconds
        found = {"progress/models_done": self._finished, "progress/models_per_second": rate}
        self._run.report(found, step=self._finished)
