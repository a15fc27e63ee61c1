"""Draw the pool: the N₊ records an audit works with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.dataset import Dataset

# Keeps the pool's random stream apart from membership and training drawn from the same seed.
POOL_STREAM = 0x706F6F6C


def draw_pool(
    dataset: Dataset, num_records: int | None, *, seed: int, balanced: bool = False
) -> Dataset:
    """A uniform draw of records without replacement, kept in the order of the source table.

    Depends on (seed, number of records, labels when balanced) alone; a smaller unbalanced pool
    is part of a larger one drawn with the same seed.

    Args:
        num_records: size N₊ of the pool; None takes every record, or as many of each class as
            the rarest class has when balanced.
        balanced: draw equal numbers of each class; what does not divide goes to the largest
            classes.

    Raises:
        ValueError: pool smaller than 2, larger than the data allow, or with a single class.
    """
    if num_records is not None and num_records < 2:
        raise ValueError(f"num_records={num_records}: a pool needs at least 2 records.")
    if num_records is not None and num_records > dataset.num_records:
        raise ValueError(
            f"num_records={num_records}: the data set {dataset.name} has "
            f"{dataset.num_records:,} rows; choose at most that many."
        )
    if seed < 0:
        raise ValueError(f"seed={seed}: a seed is a whole number from 0 on.")
    rng = np.random.default_rng([seed, POOL_STREAM])
    if balanced:
        chosen = _draw_balanced(dataset, num_records, rng)
    elif num_records is None:
        chosen = np.arange(dataset.num_records)
    else:
        chosen = rng.permutation(dataset.num_records)[:num_records]
    pool = dataset.take(np.sort(chosen))
    if np.count_nonzero(pool.class_counts) < 2:
        raise ValueError(
            f"The pool of {pool.num_records:,} records drawn from {dataset.name} holds a single "
            "class: raise num_records, change the seed or set dataset.balanced=true."
        )
    return pool


def _draw_balanced(
    dataset: Dataset, num_records: int | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    counts = dataset.class_counts
    present = np.flatnonzero(counts)
    if num_records is None:
        num_records = int(counts[present].min()) * len(present)
    quota = np.zeros_like(counts)
    quota[present] = num_records // len(present)
    largest_first = present[np.argsort(-counts[present], kind="stable")]
    quota[largest_first[: num_records % len(present)]] += 1
    if np.any(quota > counts):
        rarest = present[np.argmin(counts[present])]
        raise ValueError(
            f"num_records={num_records}: {dataset.name} has only {counts[rarest]:,} records of "
            f"class {dataset.class_names[rarest]!r}, so a balanced pool holds at most "
            f"{counts[rarest] * len(present):,}."
        )
    drawn = [
        rng.permutation(np.flatnonzero(dataset.y == label))[: quota[label]] for label in present
    ]
    return np.concatenate(drawn)
