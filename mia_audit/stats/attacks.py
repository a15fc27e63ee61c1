"""Membership statistics for every target at once: matrices [M, N] in, a matrix [M, N] out.

Higher means more likely a member. Every model is the target once; the others are its shadows.
"""

import numpy as np

from mia_audit.stats.likelihood import log_likelihood_ratio
from mia_audit.stats.moments import Moments, check_matrices, leave_one_out_blocks


def lira(
    scores: np.ndarray,
    members: np.ndarray,
    *,
    variance: str = "per_record",
    moments: Moments | None = None,
) -> np.ndarray:
    """Online LiRA, log N(φ; μ_in, σ_in) − log N(φ; μ_out, σ_out), [M, N] (arXiv 2112.03570)."""
    check_matrices(scores, members)
    if moments is not None:
        statistic = _log_ratio(
            scores - moments.mean_in, moments.var_in, scores - moments.mean_out, moments.var_out
        )
        return statistic.astype(storage_dtype(scores), copy=False)
    statistic = np.empty(scores.shape, dtype=storage_dtype(scores))
    for block in leave_one_out_blocks(scores, members):
        statistic[:, block.columns] = log_likelihood_ratio(block)
    return statistic


def storage_dtype(scores: np.ndarray) -> type[np.floating]:
    """float32 scores give float32 results (computed in float64); all others float64."""
    return np.float32 if scores.dtype in (np.float16, np.float32) else np.float64


def _log_ratio(
    deviation_in: np.ndarray,
    variance_in: np.ndarray,
    deviation_out: np.ndarray,
    variance_out: np.ndarray,
) -> np.ndarray:
    """Log ratio of two normal densities, one logarithm an entry."""
    ratio = np.log(variance_out / variance_in)
    square = np.square(deviation_in)
    square /= variance_in
    ratio -= square
    np.square(deviation_out, out=square)
    square /= variance_out
    ratio += square
    ratio *= 0.5
    return ratio
