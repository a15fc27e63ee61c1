"""One thread a core for passes over large matrices: numpy works outside Python's lock.

Results come in the order of the parts, so sums do not depend on the number of threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

ROW_ENTRIES = 1 << 20
MOST = 16  # threads: more of them wait for memory
NARROWEST = 128  # records: numpy runs along them, and short rows cost more than large blocks


def in_threads(job: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """`job(part)` of each part, in order. What numpy is told to ignore, a job must say itself."""
    if len(parts) < 2:
        return [job(part) for part in parts]
    with ThreadPoolExecutor(min(num_threads(), len(parts))) as pool:
        return list(pool.map(job, parts))


def num_threads() -> int:
    """OMP_NUM_THREADS where it is set, as for numpy's own threads; else the cores we may use."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdecimal():
        return max(1, int(told))
    # Not everywhere is a process held to some cores, or told so; memory is shared by all of them.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST)


def column_slices(shape: tuple[int, ...], entries: int) -> list[slice]:
    """All records of [M, N] in slices of about `entries` entries, none too narrow."""
    return _slices(shape[1], max(NARROWEST, entries // max(1, shape[0])))


def row_slices(shape: tuple[int, ...]) -> list[slice]:
    """All models of [M, N] in slices of about `ROW_ENTRIES` entries each."""
    return _slices(shape[0], max(1, ROW_ENTRIES // max(1, shape[1])))


def _slices(size: int, length: int) -> list[slice]:
    return [slice(at, min(at + length, size)) for at in range(0, size, length)]
