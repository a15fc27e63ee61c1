import dataclasses
import math
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.jackknife_beta import GAMMAS
from mia_audit.stats.member_share import (
    JackknifeBeta,
    Moment,
    NoScaling,
    ShareEstimator,
    Storey,
    Subtraction,
)


def quiet_share(
    estimator: ShareEstimator, calibration: np.ndarray, candidates: np.ndarray
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.share(calibration, candidates)


def draw(seed: int, n: int, m: int, *, discrete: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    calibration = rng.normal(size=n)
    candidates = rng.normal(size=m) + 1.5 * (np.arange(m) < m // 2)
    if discrete:
        return np.round(2 * calibration), np.round(2 * candidates)
    return calibration, candidates


def slow_tail(
    calibration: np.ndarray, candidates: np.ndarray, eta: float
) -> tuple[float, int, float]:
    n, m = len(calibration), len(candidates)
    raised = min(0.5, max(eta, 10 / m, 10 / n))
    k = max(1, math.floor(raised * n + 1e-9))
    tau = sorted(calibration)[k]  # the (k+1)-th smallest
    c = sum(t < tau for t in calibration)
    return tau, c, (1 + sum(t < tau for t in candidates)) / (m + 1)


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 7), (30, 50), (200, 1000), (1000, 200)])
@pytest.mark.parametrize("eta", [0.01, 0.05, 0.1, 0.5])
def test_subtraction_equals_the_definition(n: int, m: int, eta: float, discrete: bool) -> None:
    calibration, candidates = draw(n + m, n, m, discrete=discrete)
    _, c, r = slow_tail(calibration, candidates, eta)
    expected = r / (c / n) if c else 1.0
    assert Subtraction(eta).share(calibration, candidates) == pytest.approx(expected)


def test_subtraction_keeps_exact_products() -> None:
    """0.1·30 is 3 (floats say 3.0000000000000004) and 0.29·100 is 29 (they say 28.999…)."""
    calibration = np.arange(100.0)
    below = np.concatenate([np.full(1000, 28.5), np.full(1000, 200.0)])
    assert Subtraction(0.29).share(calibration, below) == pytest.approx((1001 / 2001) / 0.29)


def test_subtraction_is_not_clipped_and_says_when_ties_stop_it() -> None:
    calibration = np.arange(100.0)
    assert Subtraction().share(calibration, np.full(100, -1.0)) > 1
    estimate = Subtraction().estimate(np.zeros(100), np.ones(100))
    assert estimate.share == 1
    assert "tied" in estimate.note
    assert Subtraction().estimate(calibration, calibration).note == ""


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 7), (19, 50), (200, 100)])
@pytest.mark.parametrize("lam", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_storey_equals_the_definition(n: int, m: int, lam: float, discrete: bool) -> None:
    calibration, candidates = draw(n + m, n, m, discrete=discrete)
    rank = min(n, max(2, math.ceil(lam * (n + 1) - 1e-9)))
    counts = [1 + sum(t >= s for t in calibration) for s in candidates]
    expected = (1 + sum(c >= rank for c in counts)) / (m * (1 - rank / (n + 1)))
    assert Storey(lam).share(calibration, candidates) == pytest.approx(expected)


@pytest.mark.parametrize("n", [4, 19, 50])
def test_the_guarantee_behind_scaling(n: int) -> None:
    """E[π₀/π̂₀] ≤ 1 without members, for every estimator with a proof."""
    rng = np.random.default_rng(n)
    for estimator in (Subtraction(), Storey(), Storey(0.9), NoScaling()):
        ratios = [1 / estimator.share(rng.normal(size=n), rng.normal(size=30)) for _ in range(2000)]
        assert np.mean(ratios) <= 1 + 3 * np.std(ratios) / math.sqrt(2000)


def test_estimators_find_the_share() -> None:
    rng = np.random.default_rng(0)
    calibration = rng.normal(size=4000)
    candidates = np.concatenate([rng.normal(size=1200), rng.normal(size=2800) + 4])
    for estimator in (Subtraction(), Storey(), Moment(rng.normal(size=300) + 4), JackknifeBeta()):
        assert quiet_share(estimator, calibration, candidates) == pytest.approx(0.3, abs=0.06)
    assert NoScaling().share(calibration, candidates) == 1


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("num_confirmed", [1, 40])
def test_moment_equals_the_definition(shift: float, num_confirmed: int) -> None:
    rng = np.random.default_rng(3)
    calibration, candidates = rng.normal(size=90), rng.normal(size=70) + shift
    confirmed = rng.normal(size=num_confirmed) + shift
    tau, c, r = slow_tail(calibration, candidates, 0.5)
    f = c / 90
    hits = int(sum(confirmed < tau))
    t = binomtest(hits, num_confirmed).proportion_ci(0.9, "exact").low
    expected = r / f if t >= f else max((r - t) / (f - t), 1 / 70)
    assert Moment(confirmed).share(calibration, candidates) == pytest.approx(expected)


def test_moment_is_below_subtraction_at_its_eta_but_never_below_one_candidate() -> None:
    rng = np.random.default_rng(0)
    calibration, candidates = rng.normal(size=500), rng.normal(size=500) + 1
    moment = Moment(rng.normal(size=200) + 1).share(calibration, candidates)
    assert moment < Subtraction(0.5).share(calibration, candidates)
    only_members = Moment(rng.normal(size=5000) + 1).share(calibration, candidates - 1 + 1.4)
    assert only_members == pytest.approx(1 / 500)


def slow_jackknife(p_values: np.ndarray, seed: int) -> float:
    p_values = np.clip(p_values, 1e-10, 1 - 1e-10)
    m = len(p_values)
    samples = p_values[np.random.default_rng(seed).integers(m, size=(50, m))]

    def g(sample: np.ndarray, h: float) -> float:
        return float(np.mean((1 / h + 1) * sample ** (1 / h)))

    means, sds = [], []
    for gamma in GAMMAS:
        shares = []
        for sample in samples:
            c = max(0.1, -m / np.log(sample).sum())
            c = 1.05 if 0.95 < c < 1.05 else c
            w0, w1 = gamma / (gamma - 1), -1 / (gamma - 1)
            omega = w0**2 / 2 + w1**2 / (2 * gamma) + 2 * w0 * w1 / (gamma + 1)
            b = (omega / (4 * m * c * (c - 1) ** 4 * gamma**2 + 1e-12)) ** (1 / 5)
            b = min(max(b, 0.001), 0.8 / gamma)
            shares.append((gamma * g(sample, b) - g(sample, gamma * b)) / (gamma - 1))
        shares = np.clip(shares, 0, 1)
        means.append(shares.mean())
        sds.append(shares.std())
    weight = min(max(2 * (0.5 - p_values.mean()), 0.1), 1)
    criterion = np.array(means) + weight * np.sqrt(sds / (np.max(sds) - np.min(sds) + 1e-6))
    return min(max(means[int(np.argmin(criterion))], 0.05), 1)


@pytest.mark.parametrize("seed", range(3))
def test_jackknife_beta_equals_the_slow_loop_and_warns(seed: int) -> None:
    calibration, candidates = draw(seed, 60, 80)
    with pytest.warns(UserWarning, match="not conservative"):
        estimate = JackknifeBeta(seed).estimate(calibration, candidates)
    expected = slow_jackknife(conformal_p_values(calibration, candidates), seed)
    assert estimate.share == pytest.approx(expected)
    assert "not conservative" in estimate.note


def test_estimators_are_values_and_those_with_arrays_are_not() -> None:
    assert Subtraction(0.05) == Subtraction()
    assert hash(Storey()) == hash(Storey(0.5))
    assert len({NoScaling(), NoScaling(), JackknifeBeta(), JackknifeBeta(1)}) == 3
    first = Moment(np.ones(3))
    assert first != Moment(np.ones(3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.eta = 0.1  # type: ignore[misc]


@pytest.mark.parametrize(
    "estimator", [Subtraction(), Storey(), NoScaling(), JackknifeBeta(), Moment([1.0])]
)
def test_bad_scores_are_named(estimator: ShareEstimator) -> None:
    for calibration, candidates in (([], [1.0]), ([1.0, 2.0], []), ([1.0, np.nan], [1.0])):
        with pytest.raises(ValueError, match=r"calibration|candidates"):
            quiet_share(estimator, np.array(calibration), np.array(candidates))


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="eta"):
        Subtraction(0.0)
    with pytest.raises(ValueError, match="lam"):
        Storey(1.0)
    with pytest.raises(ValueError, match="NaN"):
        Moment([np.nan])
    with pytest.raises(ValueError, match="at least 2"):
        Subtraction().share([1.0], [1.0])
    with pytest.raises(ValueError, match="at least 2"):
        Storey().share([1.0], [1.0])
