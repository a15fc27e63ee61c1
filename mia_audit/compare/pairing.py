"""Differences of the TPR to the reference: paired where the designs agree, else not.

Pairing is what makes small differences visible: models trained on the same records from the same
seeds share most of what is random, and it drops out of the difference of their influences ψ.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, nan, sqrt

import numpy as np

from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.differences import Difference, paired_difference
from mia_audit.stats.influence import Judgement
from mia_audit.stats.intervals import t_quantile, too_few_out
from mia_audit.stats.panel import build_panel

METHOD = "post_empirical"

Judgements = dict[float, Judgement]


def judge(matrix: ScoreMatrix, alphas: Sequence[float]) -> Judgements:
    """The calibrated empirical rule's decisions on all entries, at each level."""
    pooled = build_panel(matrix.scores, matrix.members).pooled("positive")
    return {alpha: pooled(alpha) for alpha in alphas}


def paired(alpha: float, defended: Judgement, reference: Judgement) -> Difference:
    """TPR of the defence less that of the reference on one design, with 95 % limits."""
    return paired_difference(METHOD, alpha, defended, reference)


def unpaired(alpha: float, defended: Judgement, reference: Judgement) -> Difference:
    """The same difference with limits for two sweeps that share nothing: variances add.

    Two-way clustered variances of both TPRs, and the t quantile of the smaller sweep. Limits are
    nan with fewer than five out scores above a cut-off.
    """
    difference = defended.tpr - reference.tpr
    if too_few_out(defended, alpha) or too_few_out(reference, alpha):
        note = "too few out scores for an interval"
        return Difference(METHOD, alpha, difference, nan, nan, note)
    width = _quantile(defended, reference) * hypot(_error(defended), _error(reference))
    return Difference(METHOD, alpha, difference, difference - width, difference + width)


def mean_difference(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Mean of the differences of two [M] series of the same models, with 95 % t limits."""
    return mean_with_limits(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))


def mean_with_limits(values: np.ndarray) -> tuple[float, float, float]:
    """Mean over models [M] with 95 % t limits; nan where a value is unknown."""
    if not np.isfinite(values).all():
        return nan, nan, nan
    mean = float(values.mean(dtype=float))
    width = t_quantile(len(values), len(values)) * float(values.std(ddof=1)) / sqrt(len(values))
    return mean, mean - width, mean + width


def _error(judged: Judgement) -> float:
    return sqrt(judged.tpr_variance)


def _quantile(first: Judgement, second: Judgement) -> float:
    return max(t_quantile(*first.entries.shape), t_quantile(*second.entries.shape))
