"""Promises of the finite-population correction, by simulation (arXiv 2605.25819; methods, §6)."""

import numpy as np
import pytest
from scipy.special import ndtri

from mia_audit.stats import (
    correct_finite_population,
    draw_members,
    finite_population_factor,
    leave_one_out_moments,
    lira,
    noise_share_of_frames,
    noise_share_of_seeds,
    population_tpr,
)
from mia_audit.stats.reference import gaussian_means

pytestmark = pytest.mark.slow

ALPHA = 0.01
# The known answer: N₊ = 500, N = 250, d = 100, found from M = 512 (at ‖x‖² = d the truth is .0451).
POOL, TRAIN, DIMENSION = 500, 250, 100


def repeated(values: list[float]) -> tuple[float, float]:
    """Mean and four of its standard errors."""
    return float(np.mean(values)), 4 * float(np.std(values, ddof=1)) / np.sqrt(len(values))


def test_the_population_plug_in_finds_the_known_answer() -> None:
    truth, corrected, uncorrected = [], [], []
    for seed in range(12):
        drawn = gaussian_means(512, POOL, TRAIN, DIMENSION, seed=seed)
        truth.append(drawn.population_tpr(ALPHA).mean())
        for share, found in ((0.0, corrected), (1.0, uncorrected)):
            tpr = population_tpr(
                drawn.scores, drawn.members, ALPHA, num_train=TRAIN, noise_share=share
            )
            found.append(tpr.mean())
    for values, expected in ((truth, 0.0451), (uncorrected, 0.0789), (corrected, 0.0465)):
        mean, error = repeated(values)
        assert mean == pytest.approx(expected, abs=error + 0.0005)


def test_a_fresh_model_at_this_pools_means() -> None:
    """The corrected cut-off with the pool's mean has FPR .029; σ√((1+N/N₊)/FPC) makes it .010."""
    rates: dict[str, list[float]] = {"pool": [], "fresh": []}
    for seed in range(8):
        rng = np.random.default_rng((seed, 9))
        vectors = rng.standard_normal((POOL, DIMENSION))
        members = draw_members(1024, POOL, design="fixed_size", seed=seed)
        scores = members.astype(float) @ (vectors @ vectors.T) / TRAIN
        moments = leave_one_out_moments(scores, members)
        mean, sd = moments.mean_out[0], np.sqrt(moments.var_out[0])
        # A fresh training set's mean is N(0, I/N).
        fresh = rng.standard_normal((4000, DIMENSION)) / np.sqrt(TRAIN) @ vectors.T
        factor = finite_population_factor(TRAIN, POOL)
        for name, scale in (("pool", 1 / factor), ("fresh", (1 + TRAIN / POOL) / factor)):
            cut = mean - ndtri(ALPHA) * sd * np.sqrt(scale)
            rates[name].append(float((fresh > cut).mean()))
    for name, expected in (("pool", 0.029), ("fresh", 0.010)):
        mean_rate, error = repeated(rates[name])
        assert mean_rate == pytest.approx(expected, abs=error + 0.0005)


def test_corrected_moments_are_passed_along() -> None:
    """At M = 16, likelihood ratios from moments recomputed on stretched scores lose hits."""
    passed, recomputed = [], []
    for seed in range(40):
        drawn = gaussian_means(16, POOL, TRAIN, DIMENSION, seed=seed)
        stretched, moments = correct_finite_population(drawn.scores, drawn.members, num_train=TRAIN)
        for found, ratios in (
            (passed, lira(stretched, drawn.members, moments=moments)),
            (recomputed, lira(stretched, drawn.members)),
        ):
            ratios = np.where(np.isfinite(ratios), ratios, -np.inf)
            cut = np.quantile(ratios[~drawn.members], 1 - ALPHA)
            found.append((ratios[drawn.members] > cut).mean())
    difference, error = repeated(list(np.subtract(passed, recomputed)))
    assert difference > error


@pytest.mark.parametrize("share", [0.0, 0.375, 0.7])
def test_two_frames_recover_the_noise_share(share: float) -> None:
    """Training noise beside the sampling of N = 100 records; frames of 125 and 1000."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((1000, 50))
        sampling = (vectors[:125] ** 2).sum(axis=1) / 100
        frames = []
        for pool in (125, 1000):
            members = draw_members(1024, pool, design="fixed_size", fraction=100 / pool, seed=seed)
            scores = members.astype(float) @ vectors[:pool] @ vectors[:125].T / 100
            noise = rng.standard_normal(scores.shape) * np.sqrt(sampling * share / (1 - share))
            frames.append((scores + noise, members[:, :125]))
        shares = noise_share_of_frames(
            frames[0], frames[1], num_train=100, num_pool_small=125, num_pool_large=1000
        )
        found.append(shares)
    np.testing.assert_allclose(np.mean(found, axis=0), share, atol=0.07)


def test_repeated_seeds_recover_the_noise_share() -> None:
    found = []
    for seed in range(4):
        drawn = gaussian_means(512, 300, 150, 60, design="fixed_size", seed=seed)
        noise = np.random.default_rng((seed, 2)).standard_normal((2, *drawn.scores.shape))
        scores = drawn.scores + noise * drawn.sd_out * np.sqrt(0.4 / 0.6)
        found.append(noise_share_of_seeds(scores, drawn.members, num_train=150))
    np.testing.assert_allclose(np.mean(found, axis=0), 0.4, atol=0.07)
