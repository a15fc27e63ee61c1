"""How a sweep is going: a bar on a terminal, a line now and then elsewhere. Display alone."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from mia_audit.sharding import runs
from mia_audit.sweep_log import SweepLog

_EVERY_SECONDS = 5.0
_EVERY_SHARE = 0.05
_LONGEST_SILENCE = 60.0


class Progress:
    """Counts models that are done or failed and shows rate and time left on `console`."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console()
        self._bar: Bar | None = None
        self._noted: set[str] = set()
        self.log = SweepLog()

    @contextmanager
    def of(self, planned: int, *, held: int) -> Iterator[None]:
        """Show the training of `planned` models, of which `held` are in the store already."""
        self._planned, self._held, self._done, self._failed = planned, held, 0, 0
        self._began = time.monotonic()
        self._shown_at, self._shown = self._began, 0
        if self.console.is_terminal:
            with _bar(self.console) as bar:
                self._bar = bar
                self._task = bar.add_task("", total=planned, completed=held, state="")
                try:
                    yield
                finally:
                    self._bar = None
        else:
            self._print(f"Training {planned - held} models; {held} are in the store.")
            yield

    def advance(self, models: int) -> None:
        """So many more models are trained and stored."""
        self._done += models
        if models:
            self._show()

    def fail(self, causes: Mapping[int, str]) -> None:
        """These models could not be trained, each for this cause."""
        by_cause: dict[str, list[int]] = defaultdict(list)
        for model, cause in sorted(causes.items()):
            by_cause[cause].append(model)
        for cause, models in by_cause.items():
            self._print(f"{named_models(models)} failed: {cause}.")
        self._failed += len(causes)
        if causes:
            self._show()

    def note(self, sentence: str) -> None:
        """Say something once."""
        if sentence not in self._noted:
            self._noted.add(sentence)
            self._print(sentence)

    def _show(self) -> None:
        if self._bar is not None:
            completed = self._held + self._done
            self._bar.update(self._task, completed=completed, state=self._state())
            return
        now, settled = time.monotonic(), self._done + self._failed
        waited = now - self._shown_at
        enough = settled - self._shown >= _EVERY_SHARE * self._planned or waited > _LONGEST_SILENCE
        if (waited >= _EVERY_SECONDS and enough) or settled == self._planned - self._held:
            self._shown_at, self._shown = now, settled
            self._print(f"{self._held + self._done} of {self._planned} models, {self._state()}")

    def _state(self) -> str:
        """Rate, time left and failures in words."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        settled = self._done + self._failed
        left = self._planned - self._held - settled
        parts = [f"{settled / seconds:.3g} models/s"]
        if left and settled:
            parts.append(f"{duration(left * seconds / settled)} left")
        if self._failed:
            parts.append(f"{self._failed} failed")
        return ", ".join(parts)

    def _print(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Seconds as 42 s, 3 min 20 s or 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def named_models(models: list[int]) -> str:
    """Ascending indices in words: "model 3", "models 0-31, 40"."""
    parts = [f"{r.start}-{r.stop - 1}" if len(r) > 1 else f"{r.start}" for r in runs(models)]
    return f"model{'s' if len(models) > 1 else ''} {', '.join(parts)}"


def _bar(console: Console) -> Bar:
    return Bar(
        SpinnerColumn(),
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("models"),
        TextColumn("{task.fields[state]}"),
        console=console,
        transient=True,
    )
