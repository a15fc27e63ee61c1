"""Simulations with known answers, to check an audit against (arXiv 2605.25819).

Gaussian means: a "model" is the mean of its members' vectors and the score of x is ⟨model, x⟩.
Affine toy: log-likelihood ratios that are exactly normal, N(±η, 2η).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from mia_audit.stats.design import draw_members


@dataclass(frozen=True, eq=False)
class GaussianMeans:
    """Scores [M, N₊] and members [M, N₊] with the standard deviations over fresh sets, [N₊]."""

    scores: np.ndarray
    members: np.ndarray
    sd_in: np.ndarray
    sd_out: np.ndarray
    effect: np.ndarray  # μ_in − μ_out

    def population_tpr(self, alpha: float) -> np.ndarray:
        """The true TPR at FPR `alpha` of each record for training sets from the population."""
        return ndtr((self.effect + ndtri(alpha) * self.sd_out) / self.sd_in)


def gaussian_means(
    num_models: int,
    num_pool: int,
    num_train: int,
    dimension: int,
    *,
    design: str = "bernoulli",
    seed: int = 0,
) -> GaussianMeans:
    """Simulate `num_models` means of about `num_train` of N₊ standard normal vectors.

    The divisor is `num_train`, as in the paper, also where a Bernoulli set is larger or smaller.
    Analytic: σ_out = ‖x‖/√N, σ_in = ‖x‖·√(N−1)/N, μ_in − μ_out = ‖x‖²/N.
    """
    members = draw_members(
        num_models, num_pool, design=design, fraction=num_train / num_pool, seed=seed
    )
    vectors = np.random.default_rng((seed, 1)).standard_normal((num_pool, dimension))
    scores = members.astype(np.float64) @ (vectors @ vectors.T) / num_train
    norm = np.linalg.norm(vectors, axis=1)
    return GaussianMeans(
        scores,
        members,
        norm * np.sqrt(num_train - 1) / num_train,
        norm / np.sqrt(num_train),
        norm**2 / num_train,
    )


def toy_strength(
    num_records: int, dimension: int, num_train: int = 5000, *, seed: int = 0
) -> np.ndarray:
    """η_x = ‖x‖²/(2(N−1)) of records x ~ N(0, I_d), float64 [N]."""
    norm_squared = np.random.default_rng(seed).chisquare(dimension, num_records)
    return norm_squared / (2 * (num_train - 1))


def toy_tpr(strength: np.ndarray, alpha: float) -> np.ndarray:
    """TPR_x = Φ(√(2η_x) − z_α), the exact power of the best test at FPR `alpha`."""
    return ndtr(np.sqrt(2 * strength) + ndtri(alpha))


def toy_log_ratios(strength: np.ndarray, members: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Log-likelihood ratios [M, N]: N(η, 2η) for members, N(−η, 2η) for the others."""
    noise = np.random.default_rng(seed).standard_normal(members.shape)
    return np.where(members, strength, -strength) + np.sqrt(2 * strength) * noise
