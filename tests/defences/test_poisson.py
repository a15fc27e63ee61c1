"""Poisson batches: the right probabilities, nothing cut off, padding that is marked."""

import math

import numpy as np
import pytest
from scipy import stats

from mia_audit.defences.poisson import draw_batches, draw_inclusions, pass_width


def test_every_record_is_in_every_batch_with_the_same_probability() -> None:
    num_records, rate, steps = 40, 0.07, 20_000
    step, record = draw_inclusions(np.random.default_rng(0), num_records, rate, steps)
    shares = np.bincount(record, minlength=num_records) / steps
    error = math.sqrt(rate * (1 - rate) / steps)
    assert np.abs(shares - rate).max() < 4.5 * error
    sizes = np.bincount(step, minlength=steps)
    expected = stats.binom(num_records, rate)
    assert abs(sizes.mean() - expected.mean()) < 4 * expected.std() / math.sqrt(steps)
    assert abs(sizes.var() / expected.var() - 1) < 4 * math.sqrt(2 / steps) + 0.01
    assert abs((sizes == 0).mean() - expected.pmf(0)) < 4 * math.sqrt(expected.pmf(0) / steps)


def test_inclusions_of_two_records_are_independent() -> None:
    step, record = draw_inclusions(np.random.default_rng(1), 3, 0.3, 30_000)
    included = np.zeros((30_000, 3), dtype=bool)
    included[step, record] = True
    assert included.sum() == len(step), "a record is in a batch at most once"
    both = (included[:, 0] & included[:, 1]).mean()
    assert abs(both - 0.09) < 4 * math.sqrt(0.09 * 0.91 / 30_000)
    follows = (included[1:, 0] & included[:-1, 2]).mean()
    assert abs(follows - 0.09) < 4 * math.sqrt(0.09 * 0.91 / 30_000)


def test_at_rate_one_a_batch_is_the_whole_set() -> None:
    step, record = draw_inclusions(np.random.default_rng(0), 5, 1.0, 3)
    assert step.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert record.tolist() == list(range(5)) * 3


@pytest.mark.parametrize("width", [2, 5, 100])
def test_batches_hold_all_that_was_drawn_whatever_the_width(width: int) -> None:
    rows = [np.arange(10, 40), np.zeros(0, dtype=np.int64), np.array([3, 7])]

    def generators() -> list[np.random.Generator]:
        return [np.random.default_rng(seed) for seed in range(3)]

    batches = draw_batches(rows, generators(), rate=0.2, steps=50, width=width)
    longest = []
    for slot, (own, generator) in enumerate(zip(rows, generators(), strict=True)):
        step, record = draw_inclusions(generator, len(own), 0.2, 50)
        for s, batch in enumerate(batches):
            assert batch.shape[1:] == (3, width)
            shown = batch[:, slot][batch[:, slot] >= 0]
            assert shown.tolist() == own[record[step == s]].tolist()
        longest.append(np.bincount(step, minlength=50))
    passes = [len(batch) for batch in batches]
    assert passes == np.maximum(1, -(-np.max(longest, axis=0) // width)).tolist()


def test_a_second_pass_is_rare() -> None:
    assert pass_width(128) == 168
    assert stats.binom(2000, 128 / 2000).sf(168) < 1e-3
