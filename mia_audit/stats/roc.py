"""The ROC curve of a statistic over all its entries; tied values form one vertex."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    merged = np.sort(np.concatenate([inside, outside]), kind="stable")[::-1]
    if merged.size < max_vertices:
        return roc_of_sorted(inside, outside)
    threshold = np.unique(merged[thin_positions(merged.size, max_vertices - 1)])[::-1]
    tp = inside.size - np.searchsorted(inside, threshold, side="left")
    fp = outside.size - np.searchsorted(outside, threshold, side="left")
    below = sum(int(np.searchsorted(outside, inside, side=s).sum()) for s in ("left", "right"))
    return Roc(
        np.concatenate([[0.0], fp / outside.size]),
        np.concatenate([[0.0], tp / inside.size]),
        np.concatenate([[np.inf], threshold]),
        below / 2 / inside.size / outside.size,
    )


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
