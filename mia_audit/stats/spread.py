"""How unequal the records' false-positive rates are under one rule, beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import scipy
from numpy.typing import NDArray

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
    naive: PooledJudge,
    pooled: PooledJudge,
    halves: tuple[Panel, Panel] | None,
    direction: str,
    alphas: Sequence[float],
) -> list[Spread]:
    """Spread of the naive and of the post-processed rule at each level."""
    rows = []
    for method, judge in (("naive", naive), ("post_empirical", pooled)):
        split = None if halves is None else [half_judge(half, method, direction) for half in halves]
        for alpha in alphas:
            excess = nan if split is None else excess_sd(split, alpha)
            reference = nan if method == "naive" else reference_sd(judge.outside, alpha)
            raw = float(np.nanstd(record_fpr(judge, alpha)))
            rows.append(Spread(method, float(alpha), raw, excess, reference))
    return rows


def half_judge(half: Panel, method: str, direction: str) -> PooledJudge:
    """The rule on one half of the models, with that half's moments and cut-off."""
    return half.naive if method == "naive" else half.pooled(direction)


def record_fpr(judge: PooledJudge, alpha: float) -> NDArray[np.float64]:
    """[N] achieved FPR of each record; nan without out entries."""
    return mean_by_record(judge(alpha).hits, judge.outside, judge.outside.sum(axis=0))


def excess_sd(split: list[PooledJudge], alpha: float) -> float:
    """√max(0, cov over records) of two halves' per-record FPRs."""
    first, second = (record_fpr(judge, alpha) for judge in split)
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 2:
        return nan
    return float(np.sqrt(max(0.0, np.cov(first[both], second[both])[0, 1])))


def reference_sd(outside: NDArray[np.bool_], alpha: float) -> float:
    """Chance alone, for standardised normal scores: not binomial, since the scores that give a
    record's mean and variance are the ones it is judged by.
    """
    z = scipy.stats.norm.isf(alpha)
    single = alpha * (1 - alpha) - scipy.stats.norm.pdf(z) ** 2 * (1 + z**2 / 2)
    count = outside.sum(axis=0)
    return float(np.sqrt(np.mean(single / count[count > 0])))
