"""The draw of a pool."""

import numpy as np
import pytest

from mia_audit.data import Dataset, draw_pool


def labelled(y: list[int], num_classes: int) -> Dataset:
    N = len(y)
    return Dataset(
        name="toy",
        X=np.arange(N, dtype=np.float32)[:, None],
        y=np.array(y, dtype=np.int64),
        feature_names=("a",),
        feature_kinds=("numeric",),
        class_names=tuple("abcdef"[:num_classes]),
        rows=np.arange(N, dtype=np.int64) + 100,
    )


def test_same_seed_same_pool_and_smaller_is_part_of_larger() -> None:
    data = labelled([0, 1] * 50, 2)
    pool = draw_pool(data, 40, seed=3)
    assert pool.digest == draw_pool(data, 40, seed=3).digest
    assert pool.digest != draw_pool(data, 40, seed=4).digest
    assert set(pool.rows) <= set(draw_pool(data, 60, seed=3).rows)
    assert len(set(pool.rows)) == 40
    assert np.all(np.diff(pool.rows) > 0)
    np.testing.assert_array_equal(pool.X[:, 0], pool.rows - 100)


def test_every_record_is_equally_likely() -> None:
    data = labelled([0] * 4 + [1] * 16, 2)
    repeats = 2000
    counts = np.zeros(20)
    for seed in range(repeats):
        counts[draw_pool(data, 17, seed=seed).rows - 100] += 1
    sd = np.sqrt(repeats * 0.85 * 0.15)
    assert np.abs(counts - repeats * 0.85).max() < 4.5 * sd


def test_no_number_takes_everything() -> None:
    data = labelled([0, 1, 1], 2)
    assert draw_pool(data, None, seed=0).digest == data.digest
    assert draw_pool(data, 3, seed=0).digest == data.digest


@pytest.mark.parametrize(
    ("num_records", "expected"),
    [(None, [4, 4, 4]), (9, [3, 3, 3]), (10, [3, 4, 3]), (11, [3, 4, 4]), (13, [4, 5, 4])],
)
def test_balanced_classes_and_odd_totals(num_records: int | None, expected: list[int]) -> None:
    data = labelled([0] * 4 + [1] * 8 + [2] * 6, 3)
    pool = draw_pool(data, num_records, seed=1, balanced=True)
    assert pool.class_counts.tolist() == expected


def test_balanced_leaves_out_a_class_without_records() -> None:
    pool = draw_pool(labelled([0, 0, 2, 2, 2], 3), None, seed=0, balanced=True)
    assert pool.class_counts.tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("y", "arguments", "sentence"),
    [
        ([0, 1] * 5, {"num_records": 11}, "num_records=11: the data set toy has 10 rows"),
        ([0, 1] * 5, {"num_records": 1}, "at least 2 records"),
        ([0, 1] * 5, {"num_records": 0}, "at least 2 records"),
        ([0] * 5, {"num_records": None}, "single class"),
        ([0] * 2000 + [1], {"num_records": 2}, "single class"),
        ([0, 1] * 5, {"num_records": 4, "seed": -1}, "seed=-1"),
        ([0] * 9 + [1], {"num_records": 4, "balanced": True}, "only 1 records of class 'b'"),
    ],
)
def test_one_sentence_for_a_pool_that_cannot_be(y: list, arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        draw_pool(labelled(y, 2), **{"seed": 0, **arguments})
