import time

import numpy as np
import pytest
from scipy.stats import betabinom

from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.false_discovery import _null_paths, _tail_blocks, false_discovery_bounds


def slow_bounds(p_values: np.ndarray, n: int, confidence: float, paths: np.ndarray) -> np.ndarray:
    m = len(p_values)
    tails = [betabinom(m, j, n + 1 - j).sf(np.arange(m + 1) - 1) for j in range(1, n + 1)]
    least = sorted(min(tails[j][path[j]] for j in range(n)) for path in paths)
    gamma = least[int((1 - confidence) * (len(paths) + 1) + 1e-9) - 1]
    bounds = []
    for t in sorted(p_values):
        j = round(t * (n + 1))
        envelope = max(c for c in range(m + 1) if tails[j - 1][c] >= gamma * (1 - 1e-9))
        bounds.append(min(1, (envelope if j <= n else m) / sum(p <= t for p in p_values)))
    return np.array(bounds)


@pytest.mark.parametrize(("n", "m"), [(20, 15), (8, 30)])
@pytest.mark.parametrize("confidence", [0.9, 0.5])
def test_equals_the_slow_definition(n: int, m: int, confidence: float) -> None:
    rng = np.random.default_rng(0)
    p_values = conformal_p_values(rng.normal(size=n), rng.normal(size=m) + 1.5)
    p_values = p_values[p_values < 1]
    paths = _null_paths(n, p_values.size, np.random.default_rng(7))
    np.testing.assert_allclose(
        false_discovery_bounds(p_values, n, confidence=confidence, seed=7),
        slow_bounds(p_values, n, confidence, paths),
    )


def test_blocks_join_to_the_beta_binomial_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mia_audit.stats.false_discovery.BLOCK", 100)
    n, m = 13, 29
    tails = np.concatenate([block for _, block in _tail_blocks(n, m)])
    assert tails.shape == (n, m + 1)
    for j in range(1, n + 1):
        expected = np.cumsum(betabinom(m, j, n + 1 - j).pmf(np.arange(m, -1, -1)))[::-1]
        np.testing.assert_allclose(tails[j - 1], expected, rtol=1e-9)


def test_null_paths_follow_the_beta_binomial() -> None:
    n, m = 9, 20
    paths = _null_paths(n, m, np.random.default_rng(0))
    for j in (1, 5, 9):
        law = betabinom(m, j, n + 1 - j)
        assert paths[:, j - 1].mean() == pytest.approx(law.mean(), abs=4 * law.std() / 2000**0.5)


def test_clear_members_get_a_small_bound_and_noise_a_bound_of_one() -> None:
    rng = np.random.default_rng(0)
    calibration = rng.normal(size=400)
    clear = conformal_p_values(calibration, rng.normal(size=200) + 8)
    assert false_discovery_bounds(clear, 400)[-1] < 0.1
    noise = conformal_p_values(calibration, rng.normal(size=200))
    assert np.median(false_discovery_bounds(noise, 400)) == 1


def test_bounds_shrink_with_less_confidence_and_follow_sorted_p() -> None:
    rng = np.random.default_rng(1)
    calibration = rng.normal(size=100)
    p = conformal_p_values(
        calibration, np.concatenate([rng.normal(size=50) + 3, rng.normal(size=50)])
    )
    strict = false_discovery_bounds(p, 100, confidence=0.99)
    loose = false_discovery_bounds(p, 100, confidence=0.5)
    assert np.all(loose <= strict)
    assert np.any(loose < strict)
    np.testing.assert_array_equal(strict, false_discovery_bounds(np.sort(p), 100, confidence=0.99))
    assert np.all(false_discovery_bounds(p, 100, confidence=0.9999) == 1)  # beyond 2,000 paths


def test_a_thousand_by_a_thousand_takes_a_moment() -> None:
    p = conformal_p_values(*np.random.default_rng(0).normal(size=(2, 1000)))
    start = time.perf_counter()
    false_discovery_bounds(p, 1000)
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize("p_values", [[], [0.0], [1.5], [np.nan], [[0.5]]])
def test_bad_p_values_are_named(p_values: list) -> None:
    with pytest.raises(ValueError, match="p_values"):
        false_discovery_bounds(p_values, 10)


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="num_calibration"):
        false_discovery_bounds([0.5], 0)
    with pytest.raises(ValueError, match="confidence"):
        false_discovery_bounds([0.5], 10, confidence=1.0)
