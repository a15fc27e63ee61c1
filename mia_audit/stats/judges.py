"""The rules of a table as judges: level in, decisions with their influence out.

A judge answers any level, since an interval also needs the slope of the TPR around the level and,
with few hits, the spread at a laxer one. Masks, scores and moments come from one `Panel`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import conformal_cutoff, student_cutoff
from mia_audit.stats.influence import Judgement
from mia_audit.stats.shape_regression import ShapeRegression


@dataclass(eq=False)
class PooledJudge:
    """One conformal cut-off for all entries of `statistic` [M, N] (naive, attack, empirical)."""

    statistic: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]

    @cached_property
    def sorted_in(self) -> NDArray:
        """Ascending scores of the valid in entries."""
        return np.sort(self.statistic[self.inside])

    @cached_property
    def sorted_out(self) -> NDArray:
        """Ascending scores of the valid out entries."""
        return np.sort(self.statistic[self.outside])

    def tpr_at(self, level: float) -> float:
        """TPR at the cut-off of `level`."""
        cutoff = conformal_cutoff(self.sorted_out, level)
        return share_above(self.sorted_in, cutoff)

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        cutoff = conformal_cutoff(self.sorted_out, level)
        num_in, num_out = self.sorted_in.size, self.sorted_out.size
        return Judgement(
            self.statistic > cutoff,
            self.inside,
            self.outside,
            in_weight=1 / max(num_in, 1),
            out_weight=slope(self.tpr_at, level) / max(num_out, 1),
            out_rate=share_above(self.sorted_out, cutoff),
            estimated=True,
            fpr_by_construction=True,
            note="" if np.isfinite(cutoff) else beyond_note(num_out, level),
        )


@dataclass(eq=False)
class FixedJudge:
    """Cut-offs fixed beforehand: `cutoff(level)` is a scalar or [M, N]."""

    statistic: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    cutoff: Callable[[float], float | NDArray]

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        return Judgement(
            self.statistic > self.cutoff(level),
            self.inside,
            self.outside,
            in_weight=1 / max(int(self.inside.sum()), 1),
        )


@dataclass(eq=False)
class StudentJudge:
    """The t cut-off with fitted `df` for all entries; `pooled` holds the same statistic."""

    pooled: PooledJudge
    df: float

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        pooled = self.pooled
        cutoff = student_cutoff(level, self.df)
        num_in, num_out = pooled.sorted_in.size, pooled.sorted_out.size
        return Judgement(
            pooled.statistic > cutoff,
            pooled.inside,
            pooled.outside,
            in_weight=1 / max(num_in, 1),
            out_weight=slope(pooled.tpr_at, level) / max(num_out, 1),
            out_rate=share_above(pooled.sorted_out, cutoff),
            estimated=True,
        )


@dataclass(eq=False)
class RegressionJudge:
    """One conformal cut-off on what a score exceeds the quantile of its record's shape by.

    `covariates()` gives them, [K, M, N], once a level is asked for. The influence counts the
    estimated shift and takes the regression as given.
    """

    statistic: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    covariates: Callable[[], NDArray[np.float32]]

    @cached_property
    def regression(self) -> ShapeRegression:
        """What the cut-offs are read from."""
        return ShapeRegression(self.statistic, self.covariates(), self.outside)

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        return PooledJudge(self.regression.margin(level), self.inside, self.outside)(level)


def share_above(ascending: NDArray, cutoff: float) -> float:
    """Share of sorted values strictly above the cut-off; nan without values."""
    if not ascending.size:
        return float("nan")
    return 1 - float(np.searchsorted(ascending, cutoff, side="right")) / ascending.size


def slope(tpr_at: Callable[[float], float], level: float) -> float:
    """How fast the TPR rises with the level, over a factor of two to both sides."""
    low, high = level / 2, min(2 * level, 1.0)
    return (tpr_at(high) - tpr_at(low)) / (high - low)


def beyond_note(num_out: int, level: float) -> str:
    """Why a conformal cut-off is infinite."""
    return (
        f"too few out scores: {num_out} of them cannot place a cut-off at {level:g}, "
        "so nothing is called a member"
    )
