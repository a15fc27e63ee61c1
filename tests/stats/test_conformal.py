import time

import numpy as np
import pytest
from scipy.stats import kstest

from mia_audit.stats.conformal import conformal_p_values


@pytest.mark.parametrize("seed", range(5))
def test_equals_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    calibration, candidates = rng.integers(0, 8, 30), rng.integers(-1, 10, 50)
    counted = [(1 + sum(t >= s for t in calibration)) / 31 for s in candidates]
    np.testing.assert_array_equal(conformal_p_values(calibration, candidates), counted)


def test_the_ends_of_the_scale() -> None:
    p = conformal_p_values([1.0, 2.0, 3.0], [-np.inf, 0.5, 3.0, 3.5, np.inf])
    np.testing.assert_array_equal(p, [1, 1, 0.5, 0.25, 0.25])


def test_randomised_ties_lie_between_the_extremes_and_follow_the_seed() -> None:
    rng = np.random.default_rng(0)
    calibration, candidates = rng.integers(0, 4, 40), rng.integers(0, 4, 300)
    p = conformal_p_values(calibration, candidates, ties="randomised", seed=1)
    above = np.array([np.sum(calibration > s) for s in candidates])
    assert np.all(p > above / 41)
    assert np.all(p <= conformal_p_values(calibration, candidates))
    again = conformal_p_values(calibration, candidates, ties="randomised", seed=1)
    other = conformal_p_values(calibration, candidates, ties="randomised", seed=2)
    np.testing.assert_array_equal(p, again)
    assert not np.array_equal(p, other)


def test_null_p_values_are_uniform_when_randomised_and_conservative_otherwise() -> None:
    rng = np.random.default_rng(0)
    exact, cautious = [], []
    for repeat in range(3000):
        scores = rng.integers(0, 3, 11)
        exact.append(conformal_p_values(scores[:10], scores[10:], ties="randomised", seed=repeat))
        cautious.append(conformal_p_values(scores[:10], scores[10:]))
    assert kstest(np.concatenate(exact), "uniform").pvalue > 0.001
    for level in (0.1, 0.3, 0.6):
        assert np.mean(np.concatenate(cautious) <= level) <= level + 3 * np.sqrt(0.25 / 3000)


def test_a_million_scores_take_a_moment() -> None:
    rng = np.random.default_rng(0)
    calibration, candidates = rng.normal(size=500_000), rng.normal(size=500_000)
    start = time.perf_counter()
    conformal_p_values(calibration, candidates)
    assert time.perf_counter() - start < 3  # n·m comparisons would take minutes


@pytest.mark.parametrize(
    ("calibration", "candidates", "word"),
    [
        ([], [1.0], "calibration"),
        ([1.0], [], "candidates"),
        ([1.0, np.nan], [1.0], "1 NaN"),
        ([1.0], [np.nan, np.nan], "2 NaN"),
        ([[1.0]], [1.0], "vector"),
    ],
)
def test_mistakes_are_named(calibration: list, candidates: list, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        conformal_p_values(calibration, candidates)


def test_unknown_ties_are_refused() -> None:
    with pytest.raises(ValueError, match="conservative"):
        conformal_p_values([1.0], [1.0], ties="optimistic")
