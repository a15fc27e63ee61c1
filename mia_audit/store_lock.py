"""One driver a sweep: a second run of the same key waits for the first instead of repeating it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

try:
    import fcntl
except ImportError:  # not a POSIX system: sweeps are not kept apart there
    fcntl = None  # type: ignore[assignment]

_POLL = 0.3  # seconds


@contextmanager
def sole_driver(folder: str, *, busy: Callable[[], None]) -> Iterator[None]:
    """Hold the sweep's folder while the block runs; `busy` is called once if another has it.

    The operating system lets go of the lock when its process ends in whatever way, and no file is
    left. Where the file system knows no locks, nothing is held.
    """
    descriptor = -1
    told = False
    try:
        while not _current(descriptor, folder):
            if descriptor >= 0:
                os.close(descriptor)
            os.makedirs(folder, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY)
            while not _locked(descriptor):
                if not told:
                    busy()
                    told = True
                time.sleep(_POLL)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def is_free(folder: str) -> bool:
    """Whether no driver holds the folder now."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems lock nothing
        return True
    return True


def _current(descriptor: int, folder: str) -> bool:
    """Whether the open folder is still the one of that name: it may have been removed meanwhile."""
    if descriptor < 0:
        return False
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except FileNotFoundError:
        return False
