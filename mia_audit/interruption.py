"""Ctrl-C and SIGTERM end a job cleanly: what is done stays, and how to resume is printed."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class Terminated(BaseException):
    """SIGTERM arrived; like KeyboardInterrupt it passes through `except Exception`."""


def is_termination(error: BaseException | None) -> bool:
    """Whether SIGTERM is behind `error`: native code that it ends raises errors of its own."""
    return _is_behind(error, Terminated)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind `error`: an import that it ends may raise an error of its own."""
    return _is_behind(error, KeyboardInterrupt)


def _is_behind(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def terminable() -> Iterator[None]:
    """Turn SIGTERM into `Terminated` while the block runs."""

    def handler(signum: int, frame: FrameType | None) -> None:
        raise Terminated

    previous = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM while the block runs: for clean-up that takes a second or two.

    Native code that an exception breaks off half-way ends in a segmentation fault.
    """
    if threading.current_thread() is not threading.main_thread():  # gets no signals
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, signal.SIG_IGN) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, previous, strict=True):
            signal.signal(number, handler)


def say_how_to_resume(name: str, arguments: list[str]) -> None:
    """One line on stderr: which command goes on, and that nothing finished is lost."""
    command = shlex.join(["python", "-m", f"jobs.{name}", *arguments])
    kept = "" if name in ("identify", "simulate") else " Finished models are in the store."
    print(f"Interrupted.{kept} To resume: {command}", file=sys.stderr)
