"""The ε that an audit has measured: one split of the models, one cut-off, one pooled bound.

Letters: M models, N records; scores float [M, N], members bool [M, N].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import conformal_cutoff
from mia_audit.stats.moments import VARIANCE_FLOOR
from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound
from mia_audit.stats.privacy_bounds import check_level
from mia_audit.stats.standardisation import standardise

Floats = NDArray[np.float64]
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
    out_z = standardise(shadow_scores, shadow_members)[~shadow_members]
    cutoff = conformal_cutoff(np.sort(out_z[~np.isnan(out_z)]), alpha)
    mean, variance = _out_moments(shadow_scores, shadow_members)
    return (target_scores - mean) / np.sqrt(variance) > cutoff


def _out_moments(scores: NDArray[np.floating], members: Bools) -> tuple[Floats, Floats]:
    """Each record's mean and floored variance [N] over its out rows, nan below two of them."""
    outside = ~members
    count = outside.sum(axis=0)
    enough = np.where(count >= 2, count, np.nan)
    # Measured from the first row: a large common offset then costs no digits.
    centred = scores.astype(np.float64) - scores[0].astype(np.float64)
    mean = np.where(outside, centred, 0.0).sum(axis=0) / enough
    squares = np.where(outside, (centred - mean) ** 2, 0.0).sum(axis=0)
    return mean + scores[0], np.maximum(squares / (enough - 1), VARIANCE_FLOOR)
