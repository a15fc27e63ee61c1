import math

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student_t

from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound, pooled_epsilon_ratio


def table(true_positives: int, false_positives: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """One row of ``size`` entries, half of them members, with these guesses."""
    members = np.arange(size) < size // 2
    decisions = np.zeros(size, bool)
    decisions[:true_positives] = True
    decisions[size // 2 : size // 2 + false_positives] = True
    return decisions[None], members[None]


def p_value(epsilon: float, tp: int, fp: int, size: int, delta: float) -> float:
    """b + 2mδ·max_i P[v > B ≥ v − i]/i over every i."""
    success = math.exp(epsilon) / (1 + math.exp(epsilon))
    r, v = tp + fp, tp
    beyond = binom.sf(v - 1, r, success)
    i = np.arange(1, v + 1)
    windows = (binom.sf(v - i - 1, r, success) - beyond) / i
    return float(beyond + 2 * size * delta * windows.max())


@pytest.mark.parametrize(("tp", "fp"), [(40, 10), (300, 20), (100, 0), (30, 25)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_pure_bound_is_where_the_binomial_tail_meets_the_level(
    tp: int, fp: int, confidence: float
) -> None:
    bound = pooled_epsilon_lower_bound(*table(tp, fp, 1000), confidence=confidence)
    level = 1 - confidence
    if bound == 0:
        assert p_value(0, tp, fp, 1000, 0) >= level
    else:
        assert p_value(bound, tp, fp, 1000, 0) == pytest.approx(level, rel=1e-6)


@pytest.mark.parametrize(("tp", "fp"), [(40, 10), (300, 20), (100, 0), (30, 25)])
@pytest.mark.parametrize("delta", [1e-300, 1e-9, 1e-6, 1e-4, 1e-2])
def test_delta_bound_equals_a_scan(tp: int, fp: int, delta: float) -> None:
    bound = pooled_epsilon_lower_bound(*table(tp, fp, 1000), delta=delta)
    grid = np.arange(0, 6, 0.05)
    kept = [e for e in grid if p_value(e, tp, fp, 1000, delta) <= 0.05]
    largest = max(kept, default=-0.05)
    assert max(0, largest) - 1e-6 <= bound <= largest + 0.05 + 1e-6
    if bound > 0:
        assert p_value(bound, tp, fp, 1000, delta) == pytest.approx(0.05, rel=1e-5)


def test_bound_with_delta_tends_to_the_pure_bound() -> None:
    arrays = table(300, 20, 1000)
    bounds = [pooled_epsilon_lower_bound(*arrays, delta=d) for d in (1e-2, 1e-4, 1e-8, 1e-12, 0)]
    assert bounds == sorted(bounds)
    assert bounds[-2] == pytest.approx(bounds[-1], abs=1e-6)


def test_fraction_shifts_the_odds() -> None:
    arrays = table(300, 20, 1000)
    half = pooled_epsilon_lower_bound(*arrays)
    assert pooled_epsilon_lower_bound(*arrays, fraction=0.8) == pytest.approx(half - math.log(4))
    assert math.isnan(pooled_epsilon_lower_bound(*arrays, fraction=0.8, delta=1e-5))


def test_no_guesses_and_bad_guesses_measure_nothing() -> None:
    assert pooled_epsilon_lower_bound(*table(0, 0, 100)) == 0
    assert pooled_epsilon_lower_bound(*table(0, 0, 100), delta=1e-5) == 0
    assert pooled_epsilon_lower_bound(*table(5, 40, 100)) == 0


def ratio_by_scan(
    decisions: np.ndarray, members: np.ndarray, fraction: float, delta: float, confidence: float
) -> float:
    found = 0.0
    quantile = student_t.ppf(confidence, len(decisions) - 1)
    for epsilon in np.arange(0, 5, 0.002):
        gain = decisions * members / fraction
        loss = decisions * ~members / (1 - fraction)
        d = (gain - math.exp(epsilon) * loss).mean(axis=1) - delta
        if d.mean() - quantile * d.std(ddof=1) / math.sqrt(len(d)) > 0:
            found = epsilon
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rows", [2, 5, 40])
def test_ratio_equals_a_scan(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    members = rng.random((rows, 60)) < 0.4
    level = rng.normal(size=(rows, 1)) * 0.5
    decisions = rng.normal(size=members.shape) + seed / 4 * members + level > 0.8
    for delta in (0.0, 0.05):
        bound = pooled_epsilon_ratio(decisions, members, fraction=0.4, delta=delta)
        assert bound == pytest.approx(
            ratio_by_scan(decisions, members, 0.4, delta, 0.95), abs=0.0021
        )


def test_ratio_without_false_positives_says_nothing() -> None:
    members = np.tile([True, False], (4, 5))
    assert math.isnan(pooled_epsilon_ratio(members, members))


def test_ratio_of_identical_rows_is_the_log_ratio() -> None:
    decisions, members = table(40, 10, 100)
    twice = np.repeat(decisions, 3, axis=0), np.repeat(members, 3, axis=0)
    assert pooled_epsilon_ratio(*twice) == pytest.approx(math.log(4))


@pytest.mark.parametrize(
    ("keywords", "word"),
    [({"delta": 1.0}, "delta"), ({"fraction": 0.0}, "fraction"), ({"confidence": 1}, "confidence")],
)
def test_bad_levels_are_named(keywords: dict[str, float], word: str) -> None:
    for bound in (pooled_epsilon_lower_bound, pooled_epsilon_ratio):
        with pytest.raises(ValueError, match=word):
            bound(*table(3, 1, 10), **keywords)


def test_bad_shapes_are_named() -> None:
    with pytest.raises(ValueError, match="one shape"):
        pooled_epsilon_lower_bound(np.ones((2, 3), bool), np.ones((3, 2), bool))
    with pytest.raises(ValueError, match="boolean"):
        pooled_epsilon_lower_bound(np.ones((2, 3)), np.ones((2, 3), bool))
    with pytest.raises(ValueError, match="2 target rows"):
        pooled_epsilon_ratio(*table(3, 1, 10))
