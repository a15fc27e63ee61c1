"""The ε that an audit has measured: one split of the models, one cut-off, one pooled bound.

Letters: M models, N records; scores float [M, N], members bool [M, N].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import BLOCK_ENTRIES, block_at
from mia_audit.stats.cutoffs import conformal_cutoff
from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound
from mia_audit.stats.privacy_bounds import check_level
from mia_audit.stats.standardisation import standardise
from mia_audit.stats.threads import column_slices, in_threads

Bools = NDArray[np.bool_]


def measured_epsilon(
    scores: NDArray[np.floating],
    members: Bools,
    *,
    alpha: float = 0.1,
    delta: float = 0.0,
    confidence: float = 0.95,
    fraction: float = 0.5,
) -> float:
    """Lower bound on ε of the training algorithm, valid at ``confidence`` for any dependence.

    The first ⌊M/2⌋ rows are shadows: they alone give each record's moments and the pooled
    empirical cut-off at false-positive rate ``alpha``.  The other rows are targets: their
    decisions enter `pooled_epsilon_lower_bound`.  Only for the `bernoulli` design (``fraction`` is
    its coin) and never for complementary pairs of models; adjacency is add/remove.

    Raises ValueError for fewer than 8 models, alpha outside (0, 1), mismatched or non-finite
    scores.
    """
    check_level("alpha", alpha)
    if len(scores) < 8:
        raise ValueError(f"Measuring epsilon needs at least 8 models, got {len(scores)}.")
    half = len(scores) // 2
    decisions = _decide(scores[:half], members[:half], scores[half:], alpha)
    return pooled_epsilon_lower_bound(
        decisions, members[half:], fraction=fraction, delta=delta, confidence=confidence
    )


def _decide(
    shadow_scores: NDArray[np.floating],
    shadow_members: Bools,
    target_scores: NDArray[np.floating],
    alpha: float,
) -> Bools:
    """Decisions [targets, N]; records with fewer than two out shadows are never called."""
    kind = np.result_type(shadow_scores.dtype, np.float32)  # z outgrows half precision
    z = standardise(shadow_scores, shadow_members, dtype=kind)
    out_z = z[~(shadow_members | np.isnan(z))]
    cutoff = conformal_cutoff(np.sort(out_z), alpha)
    decisions = np.empty(target_scores.shape, dtype=bool)

    def decide(columns: slice) -> None:
        shadows = block_at(shadow_scores, shadow_members, columns)
        mean, variance = shadows.origin + shadows.sums_out.mean, shadows.sums_out.variance()
        decisions[:, columns] = (target_scores[:, columns] - mean) / np.sqrt(variance) > cutoff

    in_threads(decide, column_slices(target_scores.shape, BLOCK_ENTRIES))
    return decisions
