"""The rules of a table as judges: level in, decisions with their influence out.

A judge answers any level, since an interval also needs the slope of the TPR around the level and,
with few hits, the spread at a laxer one. Entries and scores come from one `Panel`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import conformal_cutoff, exact_cutoffs, student_cutoff
from mia_audit.stats.entries import Entries
from mia_audit.stats.influence import Judgement
from mia_audit.stats.threads import in_threads, row_slices


@dataclass(eq=False)
class PooledJudge:
    """One conformal cut-off for all entries of `statistic` [M, N] (naive, attack, empirical)."""

    statistic: NDArray
    entries: Entries

    @property
    def sorted_in(self) -> NDArray:
        """Ascending scores of the valid in entries."""
        return self._sorted[0]

    @property
    def sorted_out(self) -> NDArray:
        """Ascending scores of the valid out entries."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> list[NDArray]:
        masks = (self.entries.inside, self.entries.outside)
        return in_threads(partial(sorted_at, self.statistic), masks)

    def tpr_at(self, level: float) -> float:
        """TPR at the cut-off of `level`."""
        cutoff = conformal_cutoff(self.sorted_out, level)
        return share_above(self.sorted_in, cutoff)

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        cutoff = conformal_cutoff(self.sorted_out, level)
        num_in, num_out = self.sorted_in.size, self.sorted_out.size
        return Judgement(
            exceeding(self.statistic, cutoff),
            self.entries,
            in_weight=1 / max(num_in, 1),
            out_weight=slope(self.tpr_at, level) / max(num_out, 1),
            out_rate=share_above(self.sorted_out, cutoff),
            estimated=True,
            fpr_by_construction=True,
            note="" if np.isfinite(cutoff) else beyond_note(num_out, level),
        )


@dataclass(eq=False)
class FixedJudge:
    """One cut-off fixed beforehand for each level."""

    statistic: NDArray
    entries: Entries
    cutoff: Callable[[float], float]

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        hits = exceeding(self.statistic, self.cutoff(level))
        return Judgement(hits, self.entries, in_weight=1 / max(self.entries.num_inside.total, 1))


@dataclass(eq=False)
class ExactStudentJudge:
    """The exact-t cut-off of each entry's number of out shadows; `n_out` [N] models without x."""

    statistic: NDArray
    entries: Entries
    n_out: NDArray[np.int64]

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        table = exact_cutoffs(len(self.statistic), level).astype(self.statistic.dtype)
        member, non_member = table[self.n_out], table[np.maximum(self.n_out - 1, 0)]
        hits = np.empty(self.entries.shape, dtype=bool)

        def write(rows: slice) -> None:
            cutoffs = np.where(self.entries.outside[rows], non_member, member)
            np.greater(self.statistic[rows], cutoffs, out=hits[rows])

        in_threads(write, row_slices(hits.shape))
        return Judgement(hits, self.entries, in_weight=1 / max(self.entries.num_inside.total, 1))


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
            exceeding(pooled.statistic, cutoff),
            pooled.entries,
            in_weight=1 / max(num_in, 1),
            out_weight=slope(pooled.tpr_at, level) / max(num_out, 1),
            out_rate=share_above(pooled.sorted_out, cutoff),
            estimated=True,
        )


@dataclass(eq=False)
class RegressionJudge:
    """One conformal cut-off on what a score exceeds the quantile of its record's shape by.

    `margin(level)` is that excess, [M, N]. The influence counts the estimated shift and takes the
    regression as given.
    """

    margin: Callable[[float], NDArray]
    entries: Entries

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        return PooledJudge(self.margin(level), self.entries)(level)


def exceeding(statistic: NDArray, cutoff: float) -> NDArray[np.bool_]:
    """Where a statistic [M, N] is above one cut-off."""
    hits = np.empty(statistic.shape, dtype=bool)

    def write(rows: slice) -> None:
        np.greater(statistic[rows], cutoff, out=hits[rows])

    in_threads(write, row_slices(hits.shape))
    return hits


def sorted_at(statistic: NDArray, mask: NDArray[np.bool_]) -> NDArray:
    """The ascending values of the entries of a mask."""
    values = statistic[mask]
    values.sort()
    return values


def rank_of(ascending: NDArray, value: float) -> int:
    """How many sorted values are at most `value`, compared in their own precision."""
    return int(np.searchsorted(ascending, ascending.dtype.type(value), side="right"))


def share_above(ascending: NDArray, cutoff: float) -> float:
    """Share of sorted values strictly above the cut-off; nan without values."""
    if not ascending.size:
        return float("nan")
    return 1 - rank_of(ascending, cutoff) / ascending.size


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
