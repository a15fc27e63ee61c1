"""Bounds for large files against the exact ones, closed forms and their promise."""

import numpy as np
import pytest
from scipy.stats import betabinom

from mia_audit.stats import conformal_p_values, false_discovery_bounds
from mia_audit.stats import thinned_bounds as thinned
from mia_audit.stats.thinned_bounds import thinned_false_discovery_bounds


def mixture(n: int, m: int, *, members: float = 0.5, seed: int = 0) -> tuple[np.ndarray, int]:
    """p-values of m candidates, the first of them members, and how many members there are."""
    rng = np.random.default_rng(seed)
    num_in = int(members * m)
    candidates = rng.normal(size=m) + 2 * (np.arange(m) < num_in)
    return conformal_p_values(rng.normal(size=n), candidates), num_in


@pytest.mark.parametrize(("j", "n", "m"), [(1, 20, 30), (7, 20, 300), (20, 20, 5), (3, 1000, 400)])
def test_tails_of_narrow_cells_are_exact(j: int, n: int, m: int) -> None:
    cells = thinned._Cells(j, n, m, m)
    counts = np.arange(cells.start, m + 1)
    expected = betabinom.sf(counts - 1, m, j, n + 1 - j)
    np.testing.assert_allclose(cells.tail(counts), expected, rtol=1e-6, atol=1e-12)


def test_tails_of_wide_cells_are_close_and_their_largest_count_is_a_cell_end() -> None:
    cells = thinned._Cells(200, 400, 100_000, 0)
    assert cells.width > 1
    counts = cells.start + cells.width * np.arange(2000, 4000, 200)
    expected = betabinom.sf(counts - 1, 100_000, 200, 201)
    np.testing.assert_allclose(cells.tail(counts), expected, atol=1e-4)
    largest = cells.largest(0.05)
    assert cells.tail(np.array([largest]))[0] >= 0.05 > cells.tail(np.array([largest + 1]))[0]


def test_null_paths_have_the_right_distribution() -> None:
    n, m = 30, 200
    grid = np.array([1, 2, 10, 29, 30])
    paths = thinned._null_paths(grid, n, m, np.random.default_rng(0))
    for i, j in enumerate(grid):
        law = betabinom(m, j, n + 1 - j)
        error = law.std() / np.sqrt(len(paths))
        assert abs(paths[:, i].mean() - law.mean()) < 4 * error
        assert abs(paths[:, i].std() / law.std() - 1) < 0.1
    assert np.all(np.diff(paths, axis=1) >= 0)


@pytest.mark.parametrize(("n", "m"), [(50, 80), (300, 200), (1500, 400)])
def test_close_to_the_exact_bounds_with_discoveries_carried_on(n: int, m: int) -> None:
    p_values, _ = mixture(n, m)
    order = np.argsort(p_values, kind="stable")
    ordered = p_values[order]
    called = np.searchsorted(ordered, ordered, side="right")
    exact = false_discovery_bounds(p_values, n)
    right = np.maximum.accumulate(called * (1 - exact))
    ours = thinned_false_discovery_bounds(p_values, n)[order]
    assert np.all(np.abs(called * (1 - ours) - right) <= 3 + 0.05 * m)
    assert np.mean(np.abs(ours - (1 - right / called))) < 0.03


def test_result_has_the_order_of_the_input() -> None:
    p_values, _ = mixture(100, 50)
    shuffle = np.random.default_rng(1).permutation(50)
    bounds = thinned_false_discovery_bounds(p_values, 100)
    np.testing.assert_array_equal(
        thinned_false_discovery_bounds(p_values[shuffle], 100), bounds[shuffle]
    )


def test_true_discoveries_never_fall_as_the_cut_off_rises() -> None:
    p_values, _ = mixture(1000, 3000)
    order = np.argsort(p_values, kind="stable")
    bounds = thinned_false_discovery_bounds(p_values, 1000)[order]
    called = np.searchsorted(p_values[order], p_values[order], side="right")
    assert np.all(np.diff(called * (1 - bounds)) >= -1e-9)
    assert np.all((bounds >= 0) & (bounds <= 1))


@pytest.mark.parametrize("n", [1, 7, 400, 401, 100_000])
def test_grid_goes_from_the_first_rank_to_the_last(n: int) -> None:
    grid = thinned.rank_grid(n)
    assert (grid[0], grid[-1]) == (1, n)
    assert np.all(np.diff(grid) > 0)
    assert len(grid) <= thinned.NUM_RANKS
    assert np.all(np.diff(grid) <= 1 + 0.05 * grid[:-1])


def test_no_members_no_certain_discoveries() -> None:
    rng = np.random.default_rng(3)
    p_values = conformal_p_values(rng.normal(size=500), rng.normal(size=500))
    assert thinned_false_discovery_bounds(p_values, 500).min() > 0.9


def test_mistakes_are_named() -> None:
    for bad in ([], [0.0], [np.nan], [[0.5]], [1.1]):
        with pytest.raises(ValueError, match="p_values"):
            thinned_false_discovery_bounds(bad, 10)
    with pytest.raises(ValueError, match="num_calibration"):
        thinned_false_discovery_bounds([0.5], 0)
    with pytest.raises(ValueError, match="confidence"):
        thinned_false_discovery_bounds([0.5], 10, confidence=1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(40, 100), (1200, 300), (1000, 2000)])
def test_all_bounds_hold_together_as_often_as_promised(n: int, m: int) -> None:
    repeats, confidence = 300, 0.9
    held = 0
    for seed in range(repeats):
        p_values, num_in = mixture(n, m, members=0.3, seed=seed)
        bounds = thinned_false_discovery_bounds(p_values, n, confidence=confidence, seed=seed)
        order = np.argsort(p_values, kind="stable")
        called = np.searchsorted(p_values[order], p_values[order], side="right")
        wrong = np.cumsum(order >= num_in)[called - 1] / called
        held += bool(np.all(wrong <= bounds[order] + 1e-12))
    error = np.sqrt(confidence * (1 - confidence) / repeats)
    assert held / repeats >= confidence - 3 * error
