import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from mia_audit.stats.member_share import NoScaling, ShareEstimate, Storey, Subtraction
from mia_audit.stats.selection import adjusted_p_values, select_members


@dataclass(frozen=True)
class Known:
    """An estimator that knows the share."""

    value: float
    name = "known"

    def estimate(self, calibration: np.ndarray, candidates: np.ndarray) -> ShareEstimate:
        return ShareEstimate(self.value)

    def share(self, calibration: np.ndarray, candidates: np.ndarray) -> float:
        return self.value


def exact_selection(
    calibration: list, candidates: list, share: Fraction, alpha: Fraction
) -> list[int]:
    """Scaled Benjamini–Hochberg in rational arithmetic."""
    n, m = len(calibration), len(candidates)
    scaled = [share * Fraction(1 + sum(t >= s for t in calibration), n + 1) for s in candidates]
    best = max((k for k in range(1, m + 1) if sorted(scaled)[k - 1] <= k * alpha / m), default=0)
    return [j for j in range(m) if best and scaled[j] <= best * alpha / m]


scores = st.lists(st.integers(0, 12), min_size=1, max_size=25)


@settings(max_examples=300, deadline=None)
@given(scores, scores, st.integers(1, 30), st.integers(1, 19))
def test_equals_rational_arithmetic(
    calibration: list, candidates: list, share: int, alpha: int
) -> None:
    selection = select_members(calibration, candidates, alpha / 20, estimator=Known(share / 20))
    expected = exact_selection(calibration, candidates, Fraction(share, 20), Fraction(alpha, 20))
    assert selection.indices.tolist() == expected


def test_exact_ties_with_the_line_are_kept() -> None:
    """p = k·α/m exactly; floats alone would lose some of these."""
    for n in range(9, 200, 10):
        calibration = np.arange(float(n))
        for m in range(1, 30):
            alpha = 1 / (n + 1)
            candidates = np.full(m, float(n))  # every p is 1/(n + 1)
            result = select_members(calibration, candidates, alpha, estimator=NoScaling())
            assert result.indices.size == m


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.4])
def test_is_benjamini_hochberg_when_the_share_is_one(alpha: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        calibration = rng.normal(size=150)
        candidates = np.concatenate([rng.normal(size=40) + 3, rng.normal(size=60)])
        selection = select_members(calibration, candidates, alpha, estimator=NoScaling())
        adjusted = false_discovery_control(selection.p_values)
        np.testing.assert_array_equal(
            selection.indices, np.flatnonzero(adjusted <= alpha * (1 + 1e-12))
        )


def test_adjusted_p_values_are_scipys_where_those_are_below_one() -> None:
    p = np.random.default_rng(0).random(60) ** 2
    np.testing.assert_allclose(np.minimum(1, adjusted_p_values(p)), false_discovery_control(p))
    np.testing.assert_allclose(adjusted_p_values(0.3 * p), 0.3 * adjusted_p_values(p))


def test_selections_are_nested_and_grow_from_the_smallest_alpha() -> None:
    rng = np.random.default_rng(1)
    calibration = rng.normal(size=300)
    candidates = np.concatenate([rng.normal(size=100) + 2, rng.normal(size=100)])
    for estimator in (Subtraction(), Storey(), NoScaling()):
        levels = np.linspace(0.005, 0.9, 60)
        results = [select_members(calibration, candidates, a, estimator=estimator) for a in levels]
        for small, large in itertools.pairwise(results):
            assert set(small.indices) <= set(large.indices)
        least = results[0].smallest_alpha
        for factor, some in ((1 + 1e-9, True), (1 - 1e-9, False)):
            at = select_members(calibration, candidates, least * factor, estimator=estimator)
            assert (at.indices.size > 0) == some


def test_the_result_describes_itself() -> None:
    rng = np.random.default_rng(2)
    calibration = rng.normal(size=200)
    candidates = np.concatenate([rng.normal(size=50) + 3, rng.normal(size=50)])
    result = select_members(calibration, candidates, 0.1)
    assert result.non_member_share == Subtraction().share(calibration, candidates)
    np.testing.assert_allclose(result.scaled_p_values, result.non_member_share * result.p_values)
    assert result.threshold == pytest.approx(result.indices.size * 0.1 / 100)
    np.testing.assert_array_equal(
        result.indices, np.flatnonzero(result.scaled_p_values <= result.threshold * (1 + 1e-12))
    )
    assert (result.num_calibration, result.num_candidates, result.alpha) == (200, 100, 0.1)
    assert result.note == ""


def test_ties_count_against_discovery() -> None:
    calibration, candidates = np.repeat([0.0, 1.0], 100), np.repeat([0.0, 1.0], 100)
    assert select_members(calibration, candidates, 0.2).indices.size == 0
    duplicated = select_members(np.arange(50.0), np.full(40, 49.0), 0.03, estimator=NoScaling())
    assert duplicated.indices.size == 0  # each equals the largest calibration score: p = 2/51
    beating = select_members(np.arange(50.0), np.full(40, 50.0), 0.03, estimator=NoScaling())
    assert beating.indices.size == 40


def test_too_little_calibration_is_said_with_the_number_that_would_do() -> None:
    result = select_members(np.arange(10.0), np.full(20, 99.0), 0.05, estimator=NoScaling())
    assert result.indices.size == 0
    assert result.threshold == 0
    assert "No selection is possible" in result.note
    assert "at least 19" in result.note
    enough = select_members(np.arange(19.0), np.full(20, 99.0), 0.05, estimator=NoScaling())
    assert enough.indices.size == 20


def test_nothing_found_says_how_many_candidates_a_selection_needs() -> None:
    n, m, alpha = 99, 50, 0.1
    candidates = np.concatenate([np.full(4, 1000.0), np.full(46, -1.0)])
    result = select_members(np.arange(float(n)), candidates, alpha, estimator=NoScaling())
    fewest = math.ceil(m / (alpha * (n + 1)))
    assert fewest == 5
    assert result.indices.size == 0
    assert f"at least {fewest} candidates" in result.note
    candidates[4] = 1000.0
    again = select_members(np.arange(float(n)), candidates, alpha, estimator=NoScaling())
    assert again.indices.tolist() == [0, 1, 2, 3, 4]


def test_notes_of_the_estimator_are_kept() -> None:
    result = select_members(np.zeros(100), np.ones(100), 0.1)
    assert "tied" in result.note
    assert result.non_member_share == 1
    assert result.indices.size == 100


def test_randomised_ties_are_available() -> None:
    calibration, candidates = np.repeat([0.0, 1.0], 100), np.ones(100)
    plain = select_members(calibration, candidates, 0.5, estimator=NoScaling())
    drawn = select_members(
        calibration, candidates, 0.5, estimator=NoScaling(), ties="randomised", seed=3
    )
    assert np.all(drawn.p_values <= plain.p_values)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_alpha_must_be_a_level(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        select_members([1.0, 2.0], [3.0], alpha)


def test_bad_scores_are_named() -> None:
    with pytest.raises(ValueError, match="NaN"):
        select_members([1.0, math.nan], [3.0], 0.1)
    with pytest.raises(ValueError, match="candidates"):
        select_members([1.0, 2.0], [], 0.1)
