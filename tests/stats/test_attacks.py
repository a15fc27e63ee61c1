import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from mia_audit.stats import (
    calibrated_loss,
    correct_finite_population,
    leave_one_out_moments,
    lira,
    lira_offline,
    lira_target,
)
from mia_audit.stats.variances import t_log_tail
from tests.stats import oracle


def close(ours: np.ndarray, slow: np.ndarray, scale: float = 1.0) -> None:
    """1e-6 relative, near zero relative to the terms the value is the difference of."""
    np.testing.assert_allclose(ours, slow, rtol=1e-6, atol=1e-6 * scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_lira_equals_the_slow_loop(seed: int, dtype: type) -> None:
    scores, members = oracle.random_case(seed, dtype=dtype)
    statistic = lira(scores, members)
    assert statistic.dtype == dtype
    close(statistic, oracle.lira(scores, members))


def test_lira_with_given_moments_equals_the_kernel() -> None:
    scores, members = oracle.random_case(5)
    moments = leave_one_out_moments(scores, members)
    close(lira(scores, members, moments=moments), lira(scores, members))
    close(lira_offline(scores, members, moments=moments), lira_offline(scores, members))


def test_lira_reads_corrected_moments() -> None:
    scores, members = oracle.random_case(6)
    stretched, moments = correct_finite_population(scores, members, num_train=20, num_pool=41)
    expected = stats.norm.logpdf(
        stretched, moments.mean_in, np.sqrt(moments.var_in)
    ) - stats.norm.logpdf(stretched, moments.mean_out, np.sqrt(moments.var_out))
    close(lira(stretched, members, moments=moments), expected)


def test_offline_lira_equals_the_slow_loop() -> None:
    scores, members = oracle.random_case(7)
    close(lira_offline(scores, members), oracle.lira_offline(scores, members))


@pytest.mark.parametrize("variance", ["per_record", "global", "bayes"])
def test_offline_lira_does_not_saturate(variance: str) -> None:
    scores, members = oracle.random_case(8, 64, 30, dtype=np.float32)
    scores -= scores.mean(axis=0)
    sd = scores.std(axis=0).max()
    scores[0] = np.linspace(10, 900, 30) * sd
    members[0] = True
    top = lira_offline(scores, members, variance=variance)[0]
    assert np.isfinite(top).all()
    # Larger and larger deviations of one record still tell apart.
    far = []
    for deviation in (20, 40, 80, 400, 2000):
        scores[0, 3] = deviation * sd
        far.append(lira_offline(scores, members, variance=variance)[0, 3])
    assert (np.diff(far) > 0).all()


@pytest.mark.parametrize("df", [1.0, 7.3, 300.0, 5e5])
def test_the_t_tail_joins_its_far_form(df: float) -> None:
    """Around the switch (probability 1e-290) the curve has no jump beyond 1e-5 in the logarithm."""
    log_t = np.linspace(0, np.log(1e150) if df < 30 else np.log(2000 + df), 20001)
    tail = t_log_tail(np.exp(log_t), np.full(log_t.shape, df))
    assert np.isfinite(tail).all()
    steps = np.diff(tail)
    assert (steps < 1e-5).all()
    near = tail > -600
    np.testing.assert_allclose(tail[near], stats.t.logsf(np.exp(log_t[near]), df), rtol=1e-6)


def test_the_far_t_tail_against_its_series() -> None:
    """log P(T > 1e4) with 200 degrees of freedom underflows; its hypergeometric series does not."""
    df, t = 200.0, 1e4
    x = df / (df + t * t)
    a = df / 2
    series = np.log(special.hyp2f1(a + 0.5, 1.0, a + 1, x))
    exact = (
        np.log(0.5) + a * np.log(x) + 0.5 * np.log1p(-x) - np.log(a) - special.betaln(a, 0.5)
    ) + series
    np.testing.assert_allclose(t_log_tail(np.array([t]), np.array([df])), exact, rtol=1e-8)


def test_global_variance_equals_the_slow_loop() -> None:
    scores, members = oracle.random_case(9)
    close(lira(scores, members, variance="global"), oracle.lira_global(scores, members))


def test_global_variance_keeps_the_two_classes_apart() -> None:
    """Known densities with σ_in ≠ σ_out; taking σ_out from the in scores would be far off."""
    rng = np.random.default_rng(0)
    members = rng.random((400, 60)) < 0.5
    noise = rng.standard_normal(members.shape)
    scores = np.where(members, 1 + 2 * noise, 0.5 * noise)
    statistic = lira(scores, members, variance="global")
    truth = stats.norm.logpdf(scores, 1, 2) - stats.norm.logpdf(scores, 0, 0.5)
    copied_bug = stats.norm.logpdf(scores, 1, 2) - stats.norm.logpdf(scores, 0, 2)
    assert np.median(np.abs(statistic - truth)) < 0.1
    assert np.median(np.abs(statistic - copied_bug)) > 0.5


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_bayes_variance_equals_the_slow_loop(spread: float) -> None:
    """With unequal variances a finite prior; with equal ones often ν₀ = ∞."""
    rng = np.random.default_rng(10)
    _, members = oracle.random_case(10)
    sd = np.exp(spread * rng.standard_normal(members.shape[1]))
    scores = 100 + sd * rng.standard_normal(members.shape) + members
    close(lira(scores, members, variance="bayes"), oracle.lira_bayes(scores, members))


def test_calibrated_loss_equals_the_slow_loop() -> None:
    scores, members = oracle.random_case(11)
    close(
        calibrated_loss(scores, members),
        oracle.each_entry(lambda t, i, o: t - o.mean(), scores, members),
    )


def test_an_existing_model_is_judged_as_a_model_of_the_sweep_would_be() -> None:
    """Row 0 held out: its statistic from the other rows is its leave-one-out statistic."""
    scores, members = oracle.random_case(12)
    close(lira_target(scores[0], scores[1:], members[1:]), lira(scores, members)[0])


@pytest.mark.parametrize("variance", ["per_record", "global", "bayes"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_lira_follows_permutations(variance: str, seed: int) -> None:
    scores, members = oracle.random_case(seed, 15, 9)
    rng = np.random.default_rng(seed)
    order = np.ix_(rng.permutation(15), rng.permutation(9))
    permuted = lira(scores[order], members[order], variance=variance)
    close(permuted, lira(scores, members, variance=variance)[order])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_lira_ignores_each_records_location_and_scale(seed: int) -> None:
    scores, members = oracle.random_case(seed, 21, 13)
    rng = np.random.default_rng(seed)
    moved = scores * rng.lognormal(0, 1, 13) + rng.normal(0, 100, 13)
    close(lira(moved, members), lira(scores, members))


@pytest.mark.parametrize("variance", ["per_record", "global", "bayes"])
def test_constant_records_say_nothing_and_break_nothing(variance: str) -> None:
    scores, members = oracle.random_case(13)
    scores[:, 5] = -27.631021
    statistic = lira(scores, members, variance=variance)
    assert np.isfinite(statistic).all()
    if variance == "per_record":
        np.testing.assert_array_equal(statistic[:, 5], 0.0)
    assert np.isfinite(lira_offline(scores, members, variance=variance)).all()
    np.testing.assert_allclose(
        lira_offline(scores, members)[:, 5], np.log(2), rtol=1e-12, err_msg="z = 0"
    )


def test_a_lone_outlier_among_equal_shadows_meets_the_floor() -> None:
    """Left out, it leaves a class of no variance: floored in the kernel as in the slow loop."""
    scores, members = oracle.random_case(17)
    scores = scores.round(1)
    scores[members[:, 3], 3] = 2.0
    scores[0, 3] = 5.0
    statistic, slow = lira(scores, members), oracle.lira(scores, members)
    assert slow[0, 3] < -1e12
    close(statistic, slow)


def test_records_constant_but_for_one_model_stay_finite() -> None:
    _, members = oracle.random_case(14)
    scores = np.full(members.shape, 27.6)
    scores[0] = -3.0
    for variance in ("per_record", "global", "bayes"):
        assert np.isfinite(lira(scores, members, variance=variance)).all()


def test_missing_shadows_give_nan_in_that_entry_alone() -> None:
    scores, members = oracle.random_case(15)
    members[:, 0] = False
    members[:2, 0] = True  # one in shadow for the two members, two for the rest
    statistic = lira(scores, members)
    np.testing.assert_array_equal(np.isnan(statistic[:, 0]), members[:, 0])
    assert np.isfinite(statistic[:, 1:]).all()
    assert np.isfinite(lira_offline(scores, members)).all()
    # Pooled variances need a mean of the record alone.
    assert np.isfinite(lira(scores, members, variance="global")).all()


def test_unknown_variance_and_misfit_target_are_named() -> None:
    scores, members = oracle.random_case(16)
    with pytest.raises(ValueError, match="unknown variance 'fixed'"):
        lira(scores, members, variance="fixed")
    with pytest.raises(ValueError, match="target_scores must be 41"):
        lira_target(scores[0, 1:], scores, members)
