"""Poisson batches of many models in fixed shapes, never truncated.

Every record of a model's training set is in every batch independently with the same probability.
A batch longer than the fixed width continues in a further pass: cutting it short would change
the mechanism whose privacy is accounted.

Letters: S steps, R passes, K slots, W rows of a pass.
"""

import math

import numpy as np


def pass_width(batch: int) -> int:
    """Rows of a pass: about three standard deviations above the expected batch size, so that a
    second pass is rare, rounded up to a multiple of 8."""
    return 8 * math.ceil((batch + 3 * math.sqrt(batch)) / 8)


def draw_inclusions(
    generator: np.random.Generator, num_records: int, rate: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which of n records each of S batches holds: (step, record), both int64, steps ascending.

    S · n independent trials are drawn by the gaps between their successes, which are geometric:
    as many random numbers as there are successes.
    """
    trials = steps * num_records
    if rate >= 1:
        successes = np.arange(trials)
    else:
        expected = trials * rate
        size = int(expected + 6 * math.sqrt(expected)) + 10
        successes = np.cumsum(generator.geometric(rate, size)) - 1
        while successes[-1] < trials:
            more = np.cumsum(generator.geometric(rate, size)) + successes[-1]
            successes = np.concatenate([successes, more])
        successes = successes[successes < trials]
    return successes // max(num_records, 1), successes % max(num_records, 1)


def draw_batches(
    rows: list[np.ndarray],
    generators: list[np.random.Generator],
    *,
    rate: float,
    steps: int,
    width: int,
) -> list[np.ndarray]:
    """The batches of S steps, each int64 [R, K, W]: record numbers, and −1 for padding.

    rows: the records of each slot's training set, empty for a dummy. R is as many passes as the
    step's longest batch needs, at least one.
    """
    drawn = [
        draw_inclusions(generator, len(own), rate, steps)
        for own, generator in zip(rows, generators, strict=True)
    ]
    counts = np.stack([np.bincount(step, minlength=steps) for step, _ in drawn])
    passes = np.maximum(1, -(-counts.max(axis=0) // width))
    batches = np.full((steps, passes.max(), len(rows), width), -1, dtype=np.int64)
    for slot, (step, record) in enumerate(drawn):
        rank = np.arange(len(step)) - (np.cumsum(counts[slot]) - counts[slot])[step]
        batches[step, rank // width, slot, rank % width] = rows[slot][record]
    return [batch[:count] for batch, count in zip(batches, passes, strict=True)]
