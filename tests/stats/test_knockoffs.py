"""The knockoff filter against a slow reading of its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.stats.knockoffs import knockoff_statistics, select_with_knockoffs


def slowly_selected(w: list[float], alpha: float) -> list[int]:
    """The knockoff+ filter as it is written down, one candidate threshold after another."""
    for t in sorted({abs(value) for value in w if value != 0}):
        below = sum(value <= -t for value in w)
        above = sum(value >= t for value in w)
        if (1 + below) / max(1, above) <= alpha + 1e-12:
            return [i for i, value in enumerate(w) if value >= t]
    return []


@given(
    st.lists(st.integers(-6, 12).map(float), min_size=1, max_size=40),
    st.sampled_from([0.1, 0.2, 0.5]),
)
def test_equals_the_definition(w: list[float], alpha: float) -> None:
    assert select_with_knockoffs(w, alpha).indices.tolist() == slowly_selected(w, alpha)


def test_statistic_is_antisymmetric_in_record_and_copies() -> None:
    rng = np.random.default_rng(0)
    own, copies = rng.normal(size=50), rng.normal(size=(50, 4))
    w = knockoff_statistics(own, copies)
    np.testing.assert_allclose(w, own - copies.mean(axis=1))
    np.testing.assert_allclose(knockoff_statistics(copies.mean(axis=1), own), -w)


def test_selected_reach_the_threshold_and_nothing_is_selected_without_one() -> None:
    w = np.concatenate([np.linspace(1, 2, 30), [-0.5, -1.5, 0.0]])
    chosen = select_with_knockoffs(w, 0.1)
    assert np.array_equal(chosen.indices, np.flatnonzero(w >= chosen.threshold))
    assert chosen.indices.size == 30
    few = select_with_knockoffs([3.0, 2.0, 1.0], 0.1)
    assert few.indices.size == 0
    assert few.threshold == np.inf


def test_empty_input_selects_nothing() -> None:
    assert select_with_knockoffs([], 0.1).indices.size == 0


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"records, copies"):
        knockoff_statistics(np.zeros(3), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="NaN"):
        knockoff_statistics([np.nan], [[1.0]])
    with pytest.raises(ValueError, match="alpha"):
        select_with_knockoffs([1.0], 0)
    with pytest.raises(ValueError, match="vector"):
        select_with_knockoffs([[1.0]], 0.1)
