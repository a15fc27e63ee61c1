"""Synthetic scores of records that differ in place, spread and shape, for the contest of cut-offs.

`normal` scores; `skewed` ones, each record with a skewness of its own (rank correlation ½ with
μ/σ, as real scores have it); `heavy` ones, which have heavier tails besides.
"""

import numpy as np
from numpy.typing import NDArray

WORLDS = ("normal", "skewed", "heavy")
RECORDS = 2_000


def draw_world(
    world: str,
    num_models: int,
    num_records: int = RECORDS,
    *,
    seed: int = 0,
    effect: float = 0.5,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Scores float32 [M, N] that membership raises by `effect` sd on average."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((2, num_records))
    skew = 0.15 + 0.3 * (0.5 * latent[0] + np.sqrt(0.75) * latent[1])
    sd = np.exp(0.4 * rng.standard_normal(num_records))
    mean, raised = 3 * latent[0] * sd, effect * rng.exponential(1.0, num_records) * sd
    members = rng.random((num_models, num_records)) < 0.5
    scores = mean + raised * members + sd * _noise(world, rng, skew, num_models)
    return scores.astype(np.float32), members


def _noise(world: str, rng: np.random.Generator, skew: NDArray, num_models: int) -> NDArray:
    """Standardised noise [M, N]; a gamma distribution gives a record its skewness."""
    if world == "normal":
        return rng.standard_normal((num_models, skew.size))
    shape = 4 / np.maximum(np.abs(skew), 0.02) ** 2
    gamma = (rng.gamma(shape, size=(num_models, skew.size)) - shape) / np.sqrt(shape)
    if world == "heavy":
        gamma *= np.exp(0.25 * rng.standard_normal(gamma.shape) - 0.0625)
    return np.sign(skew) * gamma
