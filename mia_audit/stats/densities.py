"""Histograms of the standardised scores of members and of non-members."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.judges import PooledJudge

BINS = 160
TAIL = 0.0005


@dataclass(frozen=True, eq=False)
class Densities:
    """Densities per bin, [B] each, between `edges` [B+1]; mass beyond the edges is left out."""

    edges: NDArray[np.float64]
    member: NDArray[np.float64]
    non_member: NDArray[np.float64]


def score_densities(pooled: PooledJudge) -> Densities:
    """Densities between the outer quantiles of both classes, of all valid entries."""
    inside, outside = pooled.sorted_in, pooled.sorted_out
    low, high = (
        pick(quantile_of_sorted(inside, q), quantile_of_sorted(outside, q))
        for pick, q in ((min, TAIL), (max, 1 - TAIL))
    )
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, BINS + 1)
    return Densities(edges, heights(inside, edges), heights(outside, edges))


def quantile_of_sorted(ascending: NDArray, q: float) -> float:
    """An order statistic near the q-quantile."""
    return float(ascending[round(q * (ascending.size - 1))])


def heights(ascending: NDArray, edges: NDArray) -> NDArray[np.float64]:
    """Share per unit of score in each bin."""
    below = np.searchsorted(ascending, edges.astype(ascending.dtype))
    return np.diff(below) / ascending.size / np.diff(edges)
