"""How unequal the records' false-positive rates are under one rule, beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.entries import Entries
from mia_audit.stats.judges import PooledJudge
from mia_audit.stats.panel import Panel
from mia_audit.stats.record_judge import mean_by_record


@dataclass(frozen=True)
class Spread:
    """Standard deviations over records of the per-record FPR of `method` at level `alpha`.

    `raw`: as observed, chance included. `excess`: chance removed, as √max(0, covariance between
    the two halves of the models); it describes M/2 shadows, nan with too few models or with given
    moments. `reference`: what chance alone gives `raw` under perfect calibration (nan for naive).
    """

    method: str
    alpha: float
    raw: float
    excess: float
    reference: float


def fpr_spread(
    method: str,
    fpr: NDArray[np.float64],
    excess: Sequence[float],
    entries: Entries,
    alphas: Sequence[float],
) -> list[Spread]:
    """Spread of a rule at each level, from its per-record FPRs [A, N] and its `excess_sds`."""
    return [
        Spread(
            method,
            float(alpha),
            float(np.nanstd(rates)),
            beyond,
            nan if method == "naive" else reference_sd(entries, alpha),
        )
        for alpha, rates, beyond in zip(alphas, fpr, excess, strict=True)
    ]


def record_fprs(judge: PooledJudge, alphas: Sequence[float]) -> NDArray[np.float64]:
    """[A, N] achieved FPR of each record at each level; nan without out entries."""
    counts, outside = judge.entries.num_outside, judge.entries.outside
    return np.array([mean_by_record(judge(alpha).hits, outside, counts) for alpha in alphas])


def excess_sds(
    halves: tuple[Panel, Panel] | None, method: str, direction: str, alphas: Sequence[float]
) -> list[float]:
    """√max(0, cov over records of two halves' per-record FPRs) of a rule at each level."""
    if halves is None:
        return [nan] * len(alphas)
    first, second = (record_fprs(half_judge(half, method, direction), alphas) for half in halves)
    return [excess_sd(*pair) for pair in zip(first, second, strict=True)]


def half_judge(half: Panel, method: str, direction: str) -> PooledJudge:
    """The rule on one half of the models, with that half's moments and cut-off."""
    return half.naive() if method == "naive" else half.pooled(direction)


def excess_sd(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The same from both halves' FPRs [N] at one level."""
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 2:
        return nan
    return float(np.sqrt(max(0.0, np.cov(first[both], second[both])[0, 1])))


def reference_sd(entries: Entries, alpha: float) -> float:
    """Chance alone, for standardised normal scores: not binomial, since the scores that give a
    record's mean and variance are the ones it is judged by.
    """
    z = scipy.stats.norm.isf(alpha)
    single = alpha * (1 - alpha) - scipy.stats.norm.pdf(z) ** 2 * (1 + z**2 / 2)
    count = entries.num_outside.by_record
    return float(np.sqrt(np.mean(single / count[count > 0])))
