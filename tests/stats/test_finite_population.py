from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats import (
    correct_finite_population,
    draw_members,
    finite_population_factor,
    leave_one_out_moments,
    noise_share_of_frames,
    noise_share_of_seeds,
    population_tpr,
)
from mia_audit.stats.reference import gaussian_means
from tests.stats import oracle


def test_factors() -> None:
    assert finite_population_factor(500, 1000) == 1 - 500 / 999
    assert finite_population_factor(500, 1000, kind="in") == 1 - 499 / 999
    assert finite_population_factor(500, 1000, kind="textbook") == 0.5


def test_out_factor_is_the_variance_of_drawing_without_replacement() -> None:
    """N of the N₊ − 1 other records: the mean's variance by enumeration."""
    values = np.random.default_rng(0).normal(size=7)
    means = [np.mean(chosen) for chosen in combinations(values, 3)]
    with_replacement = values.var(ddof=1) / 3
    assert np.var(means) / with_replacement == pytest.approx(1 - 3 / 7)
    assert finite_population_factor(3, 8) == pytest.approx(1 - 3 / 7)


def test_correction_equals_the_slow_formula() -> None:
    scores, members = oracle.random_case(0)
    moments = leave_one_out_moments(scores, members)
    share = (0.2, 0.5)
    stretched, corrected = correct_finite_population(
        scores, members, num_train=15, num_pool=60, noise_share=share
    )
    f_in, f_out = 1 - 14 / 59, 1 - 15 / 59
    g_in, g_out = f_in * 0.8 + 0.2, f_out * 0.5 + 0.5
    np.testing.assert_allclose(corrected.var_in, moments.var_in / g_in)
    np.testing.assert_allclose(corrected.var_out, moments.var_out / g_out)
    np.testing.assert_array_equal(corrected.mean_in, moments.mean_in)
    for m, x in ((0, 0), (9, 4), (22, 40)):
        kind, g = ("in", g_in) if members[m, x] else ("out", g_out)
        centre = getattr(moments, f"mean_{kind}")[m, x]
        expected = centre + (scores[m, x] - centre) / np.sqrt(g)
        assert stretched[m, x] == pytest.approx(expected, rel=1e-12)


def test_standardised_residuals_do_not_change() -> None:
    """Stretch and corrected variance cancel for the entry's own class: nothing is gained there."""
    scores, members = oracle.random_case(1)
    plain = leave_one_out_moments(scores, members)
    stretched, corrected = correct_finite_population(scores, members, num_train=20)
    before = ((scores - plain.mean_out) / np.sqrt(plain.var_out))[~members]
    after = ((stretched - corrected.mean_out) / np.sqrt(corrected.var_out))[~members]
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-9)


def test_all_noise_means_no_correction() -> None:
    scores, members = oracle.random_case(2)
    plain = leave_one_out_moments(scores, members)
    stretched, corrected = correct_finite_population(scores, members, num_train=20, noise_share=1.0)
    np.testing.assert_allclose(stretched, scores, rtol=1e-12)
    np.testing.assert_array_equal(corrected.var_in, plain.var_in)


def test_reference_simulation() -> None:
    """N₊ = 1000, N = 500, d = 500, M = 2048: raw σ are .707 and .708 of the truth, corrected 1.

    The mean over records of a standard deviation from n ≈ M/2 scores that vary in about N
    directions has relative error √(1/(2·n·N)); four of them, and the paper's three digits.
    """
    simulated = gaussian_means(2048, 1000, 500, 500, seed=0)
    moments = leave_one_out_moments(simulated.scores, simulated.members)
    _, corrected = correct_finite_population(
        simulated.scores, simulated.members, num_train=500, num_pool=1000
    )
    tolerance = 4 * np.sqrt(1 / (2 * 1024 * 500)) + 0.0005
    for variance, truth, expected in (
        (moments.var_out, simulated.sd_out, 0.707),
        (moments.var_in, simulated.sd_in, 0.708),
        (corrected.var_out, simulated.sd_out, 1.000),
        (corrected.var_in, simulated.sd_in, 1.001),
    ):
        ratio = np.mean(np.sqrt(variance.mean(axis=0)) / truth)
        assert ratio == pytest.approx(expected, abs=tolerance)


def test_population_tpr_is_the_plug_in() -> None:
    scores, members = oracle.random_case(3)
    tpr = population_tpr(scores, members, 0.05, num_train=20, num_pool=60, noise_share=0.25)
    g_in, g_out = (0.75 * f + 0.25 for f in (1 - 19 / 59, 1 - 20 / 59))
    for x in (0, 7, 40):
        inside, outside = scores[members[:, x], x], scores[~members[:, x], x]
        cut = outside.mean() + stats.norm.isf(0.05) * outside.std(ddof=1) / np.sqrt(g_out)
        sd = inside.std(ddof=1) / np.sqrt(g_in)
        assert tpr[x] == pytest.approx(stats.norm.sf(cut, inside.mean(), sd), rel=1e-6)


def test_noise_share_of_two_frames_is_exact_on_exact_variances() -> None:
    """Scores whose class variances are f·V1 + V2 exactly give λ = V2/(V1 + V2)."""
    frames = []
    for pool in (125, 1000):
        variance = [
            finite_population_factor(100, pool, kind=kind) * 3.0 + 1.0 for kind in ("in", "out")
        ]
        pattern = np.sqrt(1 / 2) * np.array([-1.0, 1.0])  # sample variance 1
        column = np.concatenate([pattern * np.sqrt(v) for v in variance])
        members = np.array([[True], [True], [False], [False]])
        frames.append((column[:, None], members))
    shares = noise_share_of_frames(*frames, num_train=100, num_pool_small=125, num_pool_large=1000)
    assert shares == pytest.approx((0.25, 0.25))


def test_noise_share_of_seeds_recovers_the_share() -> None:
    """Score = sampling part + seed noise with λ = .3; error from 400 sets × 40 records."""
    rng = np.random.default_rng(4)
    members = draw_members(400, 40, design="fixed_size", seed=4)
    sampling = rng.normal(0, np.sqrt(0.7 * finite_population_factor(20, 40)), members.shape)
    scores = members + sampling + rng.normal(0, np.sqrt(0.3), (3, *members.shape))
    shares = noise_share_of_seeds(scores, members, num_train=20)
    assert shares == pytest.approx((0.3, 0.3), abs=4 * 0.3 * np.sqrt(2 / 8000) + 0.01)


def test_mistakes_are_named() -> None:
    scores, members = oracle.random_case(5)
    with pytest.raises(ValueError, match="num_train is 41"):
        correct_finite_population(scores, members, num_train=41)
    with pytest.raises(ValueError, match="unknown kind"):
        finite_population_factor(10, 40, kind="both")
    with pytest.raises(ValueError, match="noise_share"):
        population_tpr(scores, members, 0.01, num_train=10, noise_share=1.5)
    with pytest.raises(ValueError, match="at least 2 seeds"):
        noise_share_of_seeds(scores[None], members, num_train=10)
    with pytest.raises(ValueError, match="different sizes"):
        noise_share_of_frames(
            (scores, members),
            (scores, members),
            num_train=5,
            num_pool_small=41,
            num_pool_large=41,
        )
