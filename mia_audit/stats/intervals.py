"""95 % intervals of a TPR or an FPR whose entries share models and records.

Closed form: two-way cluster-robust variance of the influences (`influence.py`), on the logit
scale, with Student-t quantile of min(M, N) − 1 degrees of freedom. With fewer than ten hits:
Clopper–Pearson at an effective number of trials. The pigeonhole bootstrap (rows and columns
resampled independently; Owen 2007) is the cautious alternative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.influence import BLOCK_ENTRIES, Influence, Judgement, at
from mia_audit.stats.privacy_bounds import clopper_pearson
from mia_audit.stats.threads import column_slices

NORMAL_QUANTILE = 1.96
FEW_HITS = 10
NOTHING = (float("nan"), float("nan"))

Judge = Callable[[float], Judgement]


@dataclass(frozen=True)
class Bounds:
    """Limits of the TPR and of the FPR; nan where none is stated, and why in `note`."""

    tpr: tuple[float, float] = NOTHING
    fpr: tuple[float, float] = NOTHING
    note: str = ""


class IntervalMethod(Protocol):
    """How an operating point gets its limits."""

    def bounds(self, judge: Judge, judged: Judgement, level: float) -> Bounds:
        """Limits at `level`, where `judged` was found; `judge` answers any other level."""
        ...


@dataclass(frozen=True)
class NoIntervals:
    """Points only: for convergence curves, where thousands are not looked at."""

    def bounds(self, judge: Judge, judged: Judgement, level: float) -> Bounds:
        """No limits."""
        return Bounds()


@dataclass(frozen=True)
class Clustered:
    """The closed form: for records like these; conservative for exactly this pool."""

    def bounds(self, judge: Judge, judged: Judgement, level: float) -> Bounds:
        """Limits of the TPR, and of the FPR where it is not near the level by construction."""
        fpr = NOTHING
        if not judged.fpr_by_construction:
            fpr = _clustered(judge, judged, level, fpr_view)
        if too_few_out(judged, level):
            return Bounds(fpr=fpr, note="too few out scores for an interval")
        return Bounds(_clustered(judge, judged, level, tpr_view), fpr)


@dataclass(frozen=True)
class Bootstrap:
    """Two-way bootstrap of the influences: models and records resampled independently."""

    draws: int = 1000
    seed: int = 0

    def bounds(self, judge: Judge, judged: Judgement, level: float) -> Bounds:
        """Percentile limits of the TPR, and of the FPR as `Clustered` does."""
        fpr = NOTHING if judged.fpr_by_construction else self._limits(fpr_view(judged))
        if too_few_out(judged, level):
            return Bounds(fpr=fpr, note="too few out scores for an interval")
        return Bounds(self._limits(tpr_view(judged)), fpr)

    def _limits(self, view: "RateView") -> tuple[float, float]:
        if not view.trials:
            return NOTHING
        num_models, num_records = view.mask.shape
        rng = np.random.default_rng(self.seed)
        rows = rng.multinomial(num_models, np.full(num_models, 1 / num_models), self.draws)
        columns = rng.multinomial(num_records, np.full(num_records, 1 / num_records), self.draws)
        above, below = np.zeros(self.draws), np.zeros(self.draws)
        for block in column_slices((num_models, num_records), BLOCK_ENTRIES):
            weight = view.mask[:, block] * at(view.weight, block)
            for total, part in ((above, view.influence(block)), (below, weight)):
                total += np.einsum("bn,bn->b", rows.astype(float) @ part, columns[:, block])
        low, high = np.quantile(view.rate + above / below, [0.025, 0.975])
        return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


@dataclass(frozen=True, eq=False)
class RateView:
    """A rate over the entries of `mask`, their weights in it, the influence of each, and the
    two-way clustered variance that follows.
    """

    rate: float
    hits: float
    trials: int
    mask: NDArray[np.bool_]
    weight: float | NDArray
    influence: Influence
    variance_of: Callable[[], float]


def tpr_view(judged: Judgement) -> RateView:
    """The TPR of a judgement."""
    return RateView(
        judged.tpr,
        judged.true_hits,
        judged.entries.num_inside.total,
        judged.entries.inside,
        judged.in_weight,
        judged.tpr_influence,
        lambda: judged.tpr_variance,
    )


def fpr_view(judged: Judgement) -> RateView:
    """The FPR of a judgement, its cut-off taken as given."""
    num_outside = judged.entries.num_outside.total
    return RateView(
        judged.fpr,
        judged.false_hits,
        num_outside,
        judged.entries.outside,
        1 / max(num_outside, 1),
        judged.fpr_influence,
        lambda: judged.fpr_variance,
    )


def interval_method(name: str) -> IntervalMethod:
    """ "clustered", "bootstrap" or "none" → the method. Raises ValueError for another name."""
    match name:
        case "clustered":
            return Clustered()
        case "bootstrap":
            return Bootstrap()
        case "none":
            return NoIntervals()
    raise ValueError(f"intervals is {name!r}; choose 'clustered', 'bootstrap' or 'none'.")


def too_few_out(judged: Judgement, level: float) -> bool:
    """Whether fewer than five out scores stand above a cut-off estimated from them."""
    return judged.estimated and level * judged.entries.num_outside.total < 5


def t_quantile(num_models: int, num_records: int) -> float:
    """97.5 % quantile of t with min(M, N) − 1 degrees of freedom."""
    return float(scipy.stats.t.isf(0.025, max(min(num_models, num_records) - 1, 1)))


def logit_interval(rate: float, variance: float, quantile: float) -> tuple[float, float]:
    """rate ± quantile·sd on the logit scale; 0 < rate < 1."""
    centre = np.log(rate / (1 - rate))
    width = quantile * np.sqrt(variance) / (rate * (1 - rate))
    return float(1 / (1 + np.exp(width - centre))), float(1 / (1 + np.exp(-width - centre)))


def few_hits_interval(
    rate: float, trials: int, inflation: float, quantile: float
) -> tuple[float, float]:
    """Clopper–Pearson at n* = trials/inflation·(1.96/t)² effective trials with n*·rate hits."""
    effective = trials / inflation * (NORMAL_QUANTILE / quantile) ** 2
    return clopper_pearson(effective * rate, effective)


def _clustered(
    judge: Judge, judged: Judgement, level: float, view_of: Callable[[Judgement], RateView]
) -> tuple[float, float]:
    view = view_of(judged)
    trials = view.trials
    if trials == 0:
        return NOTHING
    quantile = t_quantile(*view.mask.shape)
    variance = view.variance_of()
    if view.hits >= FEW_HITS and 0 < view.rate < 1:
        return logit_interval(view.rate, variance, quantile)
    laxer = view_of(judge(min(10 * level, 0.3)))
    inflation = max(
        1.0,
        variance_inflation(view.rate, variance, trials),
        variance_inflation(laxer.rate, laxer.variance_of(), trials),
    )
    return few_hits_interval(view.rate, trials, inflation, quantile)


def variance_inflation(rate: float, variance: float, trials: int) -> float:
    """By how much V exceeds the variance of independent entries; 1 for a rate of 0 or 1."""
    return trials * variance / (rate * (1 - rate)) if 0 < rate < 1 else 1.0
