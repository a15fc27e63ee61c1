import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from mia_audit.stats.privacy_bounds import (
    clopper_pearson,
    epsilon_lower_bound,
    gdp_epsilon,
    mu_lower_bound,
)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (1, 1000), (500, 1000)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_clopper_pearson_equals_scipy(k: int, n: int, confidence: float) -> None:
    expected = binomtest(k, n).proportion_ci(confidence, "exact")
    lower, upper = clopper_pearson(k, n, confidence=confidence)
    assert isinstance(lower, float)
    assert isinstance(upper, float)
    assert (lower, upper) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_clopper_pearson_inverts_the_binomial_tails() -> None:
    lower, upper = clopper_pearson(7, 40, confidence=0.9)
    assert binom.sf(6, 40, lower) == pytest.approx(0.05)
    assert binom.cdf(7, 40, upper) == pytest.approx(0.05)


def test_clopper_pearson_takes_arrays_fractions_and_no_trials() -> None:
    lower, upper = clopper_pearson([0, 2.5, 0], [0, 9.5, 4])
    assert lower.shape == upper.shape == (3,)
    assert (lower[0], upper[0]) == (0, 1)
    assert 0 < lower[1] < 2.5 / 9.5 < upper[1] < 1
    assert lower[2] == 0
    assert upper[2] == pytest.approx(1 - 0.025 ** (1 / 4))


def test_clopper_pearson_reaches_its_level_for_every_share() -> None:
    n, shares = 30, np.linspace(0.01, 0.99, 99)
    lower, upper = clopper_pearson(np.arange(n + 1), n, confidence=0.8)
    weight = binom.pmf(np.arange(n + 1), n, shares[:, None])
    assert np.max((weight * (lower > shares[:, None])).sum(axis=1)) <= 0.1
    assert np.max((weight * (upper < shares[:, None])).sum(axis=1)) <= 0.1


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (math.nan, 5)])
def test_impossible_counts_are_refused(k: float, n: float) -> None:
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson(k, n)


def slow_epsilon(tp: int, fn: int, fp: int, tn: int, delta: float, confidence: float) -> float:
    """The two ratios written out, every bound computed on its own."""
    side = 2 * (1 - (1 - confidence) / 2) - 1
    tpr_lo = binomtest(tp, tp + fn).proportion_ci(side, "exact").low
    fpr_hi = binomtest(fp, fp + tn).proportion_ci(side, "exact").high
    tnr_lo = binomtest(tn, fp + tn).proportion_ci(side, "exact").low
    fnr_hi = binomtest(fn, tp + fn).proportion_ci(side, "exact").high
    ratios = [(tpr_lo - delta, fpr_hi), (tnr_lo - delta, fnr_hi)]
    return max(0.0, *(math.log(a / b) for a, b in ratios if a > 0))


@pytest.mark.parametrize("counts", [(90, 10, 1, 99), (50, 50, 50, 50), (10, 90, 0, 100)])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_epsilon_equals_the_two_ratios(
    counts: tuple[int, int, int, int], delta: float, confidence: float
) -> None:
    bound = epsilon_lower_bound(*counts, delta=delta, confidence=confidence)
    assert bound == pytest.approx(slow_epsilon(*counts, delta, confidence), abs=1e-9)


def test_epsilon_sees_leaks_in_both_directions() -> None:
    rare_hits = epsilon_lower_bound(200, 800, 1, 999)  # few members caught, hardly a false alarm
    rare_misses = epsilon_lower_bound(999, 1, 800, 200)
    assert rare_hits == pytest.approx(rare_misses)
    assert rare_hits > 3


def test_epsilon_falls_with_delta_and_confidence_and_is_never_negative() -> None:
    counts = (60, 40, 20, 80)
    assert epsilon_lower_bound(*counts) > epsilon_lower_bound(*counts, delta=0.05) > 0
    assert epsilon_lower_bound(*counts) > epsilon_lower_bound(*counts, confidence=0.999)
    assert epsilon_lower_bound(10, 90, 90, 10) == 0
    assert epsilon_lower_bound(0, 0, 0, 0) == 0
    assert epsilon_lower_bound(60, 40, 20, 80, delta=0.99) == 0


def test_mu_of_a_gaussian_mechanism_is_approached_from_below() -> None:
    mu, n = 1.5, 10**7
    hits, alarms = round(n * norm.sf(1 - mu)), round(n * norm.sf(1))
    bound = mu_lower_bound(hits, n - hits, alarms, n - alarms)
    assert mu - 0.01 < bound < mu
    assert mu_lower_bound(50, 50, 50, 50) == 0
    assert mu_lower_bound(0, 0, 0, 0) == 0


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
def test_gdp_epsilon_inverts_the_trade_off(mu: float, delta: float) -> None:
    epsilon = gdp_epsilon(mu, delta)
    spent = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))
    if epsilon == 0:
        assert spent <= delta
    else:
        assert spent == pytest.approx(delta, rel=1e-6)


def test_gdp_epsilon_at_the_ends() -> None:
    assert gdp_epsilon(1.0, 1e-5) == pytest.approx(4.37718, abs=1e-4)  # published value for μ = 1
    assert gdp_epsilon(0.0, 0.0) == 0
    assert gdp_epsilon(1.0, 0.0) == math.inf


@pytest.mark.parametrize(("mu", "delta"), [(-1, 0.1), (math.inf, 0.1), (1, 1.0), (1, -0.1)])
def test_gdp_mistakes_are_refused(mu: float, delta: float) -> None:
    with pytest.raises(ValueError, match=r"mu|delta"):
        gdp_epsilon(mu, delta)


@pytest.mark.parametrize("confidence", [0.0, 1.0, math.nan])
def test_confidence_must_be_a_level(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        epsilon_lower_bound(1, 1, 1, 1, confidence=confidence)
