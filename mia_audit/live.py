"""A sweep's progress on the terminal and, at the same time, in its MLflow run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from mia_audit import tracking
from mia_audit.preparation import Prepared
from mia_audit.progress import Progress


class LiveProgress(Progress):
    """Also reports `progress/models_done` and `progress/models_per_second` to the run.

    Models of several sweeps (those that measure the share of training noise) are counted on.
    """

    def __init__(self, console: Console, run: tracking.LiveRun) -> None:
        super().__init__(console)
        self._run = run
        self._finished = 0

    @contextmanager
    def of(self, planned: int, *, held: int) -> Iterator[None]:
        self._finished += held
        with super().of(planned, held=held):
            yield

    def advance(self, models: int) -> None:
        super().advance(models)
        self._finished += models
        seconds = max(time.monotonic() - self._began, 1e-9)
        found = {
            "progress/models_done": self._finished,
            "progress/models_per_second": self._done / seconds,
        }
        self._run.report(found, step=self._finished)


def open_run(
    prepared: Prepared,
    config: tracking.Tracking,
    ready: tracking.Ready,
    *,
    kind: str,
    defence: str,
    started: float,
) -> tracking.LiveRun | None:
    """The run of a job, open while models are trained; None where none is missing.

    `defence` is what to call it, `started` when the job began (seconds since the epoch).
    """
    plan = prepared.plan
    if not any(prepared.store.missing(one) for one in (plan, *prepared.noise_plans)):
        tracking.end_left_over(config, ready, plan.key)
        return None
    names = {"defence": defence, "model": plan.model.name, "dataset": plan.dataset.name}
    return tracking.LiveRun(
        config,
        ready,
        name=" ".join(names.values()),
        tags={"kind": kind, **names},
        key=plan.key,
        started=started,
    )


def progress_of(run: tracking.LiveRun | None, console: Console) -> Progress:
    """Progress that reports to the run, if there is one."""
    return LiveProgress(console, run) if run else Progress(console)
