"""The ROC curve of a statistic over all its entries; tied values form one vertex."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.threads import column_slices, in_threads

AT_ONCE = 1 << 20  # values ranked at once


@dataclass(frozen=True, eq=False)
class Roc:
    """Vertices from (0, 0) to (1, 1), rates rising; a vertex takes every score ≥ `threshold`."""

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    threshold: NDArray[np.float64]
    area: float

    @property
    def auc(self) -> float:
        """Area under the whole curve (thinning leaves it alone); nan without both classes."""
        return self.area

    def tpr_at(self, fpr: float) -> float:
        """The TPR of the last vertex whose FPR is at most `fpr`; no interpolation inside a tie."""
        return float(self.tpr[np.searchsorted(self.fpr, fpr * (1 + 1e-12), side="right") - 1])

    def thin(self, max_vertices: int) -> "Roc":
        """At most `max_vertices` vertices of this curve, spread evenly on a log axis of the FPR.

        Both ends and the first vertices are kept exactly, since low rates are what matters.
        """
        size = self.fpr.size
        if size <= max_vertices:
            return self
        keep = thin_positions(size, max_vertices)
        return Roc(self.fpr[keep], self.tpr[keep], self.threshold[keep], self.area)


def roc_curve(statistic: NDArray, members: NDArray[np.bool_]) -> Roc:
    """ROC of `statistic` [M, N] (NaN left out) against `members` [M, N]; higher means member.

    Raises ValueError when members or non-members are missing altogether.
    """
    valid = ~np.isnan(statistic)
    inside, outside = statistic[valid & members], statistic[valid & ~members]
    if not inside.size or not outside.size:
        raise ValueError(
            "A ROC curve needs valid scores of members and of non-members; one of them is missing."
        )
    return roc_of_sorted(np.sort(inside), np.sort(outside))


def roc_of_sorted(inside: NDArray, outside: NDArray) -> Roc:
    """The same from the ascending scores of members and of non-members."""
    threshold = merged_levels(inside, outside)
    tp = inside.size - np.searchsorted(inside, threshold, side="left")
    fp = outside.size - np.searchsorted(outside, threshold, side="left")
    tpr = np.concatenate([[0.0], tp / inside.size])
    fpr = np.concatenate([[0.0], fp / outside.size])
    area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)
    return Roc(fpr, tpr, np.concatenate([[np.inf], threshold]), area)


def thinned_roc_of_sorted(inside: NDArray, outside: NDArray, max_vertices: int) -> Roc:
    """Some vertices of `roc_of_sorted`, the whole curve's area, without building all of it."""
    size = inside.size + outside.size
    if size < max_vertices:
        return roc_of_sorted(inside, outside)
    ranks = size - 1 - thin_positions(size, max_vertices - 1)
    threshold = np.unique(order_statistics(inside, outside, ranks))[::-1]
    tp = inside.size - np.searchsorted(inside, threshold, side="left")
    fp = outside.size - np.searchsorted(outside, threshold, side="left")
    return Roc(
        np.concatenate([[0.0], fp / outside.size]),
        np.concatenate([[0.0], tp / inside.size]),
        np.concatenate([[np.inf], threshold]),
        area_of_sorted(inside, outside),
    )


def area_of_sorted(inside: NDArray, outside: NDArray) -> float:
    """P(member > non-member) + ½·P(equal)."""

    def below(part: slice) -> int:
        values = inside[part]
        start = int(np.searchsorted(outside, values[0], side="left"))
        near = outside[start : np.searchsorted(outside, values[-1], side="right")]
        at = (np.searchsorted(near, values, side=side) for side in ("left", "right"))
        return 2 * start * values.size + sum(int(places.sum()) for places in at)

    twice = sum(in_threads(below, column_slices((1, inside.size), AT_ONCE)))
    return twice / 2 / inside.size / outside.size


def order_statistics(first: NDArray, second: NDArray, ranks: NDArray[np.int64]) -> NDArray:
    """The values of the given ranks, from 0, among two ascending arrays together.

    Bisection for how many of the values up to a rank come from the first array.
    """
    low = np.maximum(ranks + 1 - second.size, 0)
    high = np.minimum(ranks + 1, first.size)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        other = np.clip(ranks - middle, 0, second.size - 1)
        more = open_ & (first[np.minimum(middle, first.size - 1)] < second[other])
        low = np.where(more, middle + 1, low)
        high = np.where(open_ & ~more, middle, high)
    of_first = np.where(low > 0, first[np.maximum(low - 1, 0)], -np.inf)
    taken = ranks + 1 - low
    of_second = np.where(taken > 0, second[np.maximum(taken - 1, 0)], -np.inf)
    return np.maximum(of_first, of_second)


def thin_positions(size: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `size` positions: the first quarter of them all, then evenly on a log axis,
    the last one included.
    """
    exact = most // 4
    positions = np.geomspace(exact, size - 1, most - exact)
    return np.unique(np.concatenate([np.arange(exact), np.rint(positions).astype(np.int64)]))


def merged_levels(inside: NDArray, outside: NDArray) -> NDArray:
    """Distinct values of both, falling."""
    merged = np.sort(np.concatenate([inside, outside]), kind="stable")
    distinct = np.concatenate([[True], merged[1:] != merged[:-1]])
    return merged[distinct][::-1]
