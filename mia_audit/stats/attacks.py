"""LiRA and its relatives for every target at once: matrices [M, N] in, a matrix [M, N] out.

Higher means more likely a member. Every model is the target once; the others are its shadows.
Results are float32 for float32 scores (computed in float64), else float64.
"""

import numpy as np

from mia_audit.stats.likelihood import is_regular, write_log_likelihood_ratio
from mia_audit.stats.moments import (
    BLOCK_ENTRIES,
    Block,
    Moments,
    check_matrices,
    leave_one_out_blocks,
    moment_blocks,
)
from mia_audit.stats.variances import fit_variance

# The kernel keeps one array a block, 8 MB: wide columns make its rows long.
KERNEL_ENTRIES = 1 << 20


def lira(
    scores: np.ndarray,
    members: np.ndarray,
    *,
    variance: str = "per_record",
    moments: Moments | None = None,
) -> np.ndarray:
    """Online LiRA, log p(φ | in) − log p(φ | out), [M, N] (arXiv 2112.03570).

    `variance`: `per_record`; `global`, one variance a target and class pooled over records; or
    `bayes`, shrunk between the two with Student-t densities (arXiv 2603.11799). `moments` replaces
    the leave-one-out moments, e.g. corrected ones. nan where a class has too few shadows. Raises
    ValueError for an unknown variance, and as `check_matrices`.
    """
    check_matrices(scores, members)
    statistic = np.empty(scores.shape, dtype=_storage(scores))
    model = fit_variance(variance, scores, members, moments, ("in", "out"))
    entries = KERNEL_ENTRIES if variance == "per_record" else BLOCK_ENTRIES
    for block in moment_blocks(scores, members, moments, entries=entries):
        if variance == "per_record" and isinstance(block, Block) and is_regular(block):
            write_log_likelihood_ratio(block, statistic[:, block.columns])
        else:
            ratio = model.log_density(block, "in") - model.log_density(block, "out")
            statistic[:, block.columns] = ratio
    return statistic


def lira_offline(
    scores: np.ndarray,
    members: np.ndarray,
    *,
    variance: str = "per_record",
    moments: Moments | None = None,
) -> np.ndarray:
    """Offline LiRA, −log P(Z > φ) under the out density, [M, N]: needs non-member shadows alone.

    On the log scale it grows without saturating. Options and errors as `lira`.
    """
    check_matrices(scores, members)
    statistic = np.empty(scores.shape, dtype=_storage(scores))
    model = fit_variance(variance, scores, members, moments, ("out",))
    for block in moment_blocks(scores, members, moments):
        statistic[:, block.columns] = -model.log_tail(block, "out")
    return statistic


def calibrated_loss(scores: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Difficulty-calibrated score φ − μ_out, [M, N], μ_out over the other models without x."""
    check_matrices(scores, members)
    statistic = np.empty(scores.shape, dtype=_storage(scores))
    for block in leave_one_out_blocks(scores, members):
        statistic[:, block.columns] = block.left_out("out")[0]
    return statistic


def lira_target(target_scores: np.ndarray, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Online LiRA of an existing model, float64 [N], with all M models of a sweep as shadows.

    `target_scores` [N] are the existing model's φ on the same records. Raises ValueError when the
    lengths differ or a target score is not finite, and as `check_matrices`.
    """
    check_matrices(scores, members)
    target = np.asarray(target_scores, dtype=np.float64)
    if target.shape != scores.shape[1:] or not np.isfinite(target).all():
        raise ValueError(
            f"target_scores must be {scores.shape[1]} finite numbers, one for each column of "
            f"scores, not shape {target.shape}."
        )
    statistic = np.empty(len(target))
    for block in leave_one_out_blocks(scores, members):
        log_density = []
        for sums in (block.sums_in, block.sums_out):
            variance = sums.variance()
            square = np.square(target[block.columns] - block.origin - sums.mean)
            log_density.append(-0.5 * (np.log(variance) + square / variance))
        statistic[block.columns] = log_density[0] - log_density[1]
    return statistic


def _storage(scores: np.ndarray) -> type[np.floating]:
    return np.float32 if scores.dtype.itemsize <= 4 else np.float64
