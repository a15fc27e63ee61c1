"""Lines for a file, a bar for a terminal, and both end with all models accounted for."""

import io

import pytest
from rich.console import Console

from mia_audit import progress as module
from mia_audit.progress import Progress, duration, named_models


class Clock:
    """Time that moves when told."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def lines_of(console: Console) -> list[str]:
    return console.export_text().splitlines()


def test_lines_come_every_few_seconds_and_per_cents(clock: Clock) -> None:
    console = Console(record=True, file=io.StringIO(), width=200)
    progress = Progress(console)
    with progress.of(1000, held=200):
        for _ in range(800):
            clock.now += 0.125
            progress.advance(1)
    assert lines_of(console) == [
        "Training 800 models; 200 are in the store.",
        *(
            f"{done + 200} of 1000 models, 8 models/s, {duration((800 - done) / 8)} left"
            for done in range(50, 800, 50)
        ),
        "1000 of 1000 models, 8 models/s",
    ]


def test_a_slow_sweep_still_speaks_once_a_minute(clock: Clock) -> None:
    console = Console(record=True, file=io.StringIO(), width=200)
    progress = Progress(console)
    with progress.of(1000, held=0):
        for _ in range(4):
            clock.now += 31
            progress.advance(1)
    assert lines_of(console)[1:] == [
        "2 of 1000 models, 0.0323 models/s, 8 h 35 min left",
        "4 of 1000 models, 0.0323 models/s, 8 h 34 min left",
    ]


def test_failures_are_named_with_their_cause(clock: Clock) -> None:
    console = Console(record=True, file=io.StringIO(), width=200)
    progress = Progress(console)
    with progress.of(8, held=0):
        clock.now += 2
        progress.advance(4)
        progress.fail({7: "OSError: [x]", 4: "died", 5: "died", 6: "died"})
    assert lines_of(console)[1:] == [
        "models 4-6 failed: died.",
        "model 7 failed: OSError: [x].",
        "4 of 8 models, 4 models/s, 4 failed",
    ]


def test_a_note_is_said_once() -> None:
    console = Console(record=True, file=io.StringIO(), width=200)
    progress = Progress(console)
    progress.note("No node yet.")
    progress.note("No node yet.")
    assert lines_of(console) == ["No node yet."]


def test_a_terminal_gets_a_bar() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100)
    progress = Progress(console)
    with progress.of(64, held=0):
        progress.advance(32)
        progress.fail({3: "died"})
    assert "32/64" in file.getvalue()
    assert "1 failed" in file.getvalue()
    assert "model 3 failed: died." in file.getvalue()


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.6, 200, 7500)] == [
        "0 s", "1 min 0 s", "3 min 20 s", "2 h 5 min",
    ]  # fmt: skip


def test_names_of_models() -> None:
    assert named_models([3]) == "model 3"
    assert named_models([0, 1, 2, 9]) == "models 0-2, 9"
