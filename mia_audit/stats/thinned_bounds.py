"""Simultaneous bounds on the false discovery proportion for files of any size.

`false_discovery_bounds` looks at every one of the n + 1 possible p-values and at every count up to
m: exact, and too slow beyond some thousands of each.  Here at most `NUM_RANKS` of them are looked
at; a cut-off between two takes the next larger one, so that the bounds still hold together.

Letters: n calibration scores, m candidates, B simulated paths, J ranks looked at.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from mia_audit.stats.privacy_bounds import check_level

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

NUM_PATHS = 2_000
NUM_RANKS = 400
CELLS_A_DEVIATION = 256  # counts are looked at in cells of 1/256 of their standard deviation


def thinned_false_discovery_bounds(
    p_values: ArrayLike, num_calibration: int, *, confidence: float = 0.9, seed: int = 0
) -> Floats:
    """Upper bound [m] on the false discovery proportion of {p ≤ t}, at each p-value t in order.

    ``p_values`` [m]: unscaled conformal p-values against ``num_calibration`` non-members, in any
    order; the result has the same order.  With probability at least ``confidence`` all bounds hold
    together.  Members found at one cut-off are found at every larger one as well, which makes the
    bounds of large cut-offs smaller than those of ``false_discovery_bounds``; the thinning makes
    them a few per cent wider from n = 400 on.  O(m + B·J).

    Raises ValueError for empty, NaN or out-of-range p-values, or no calibration scores.
    Source: arXiv 2605.20726; the thinning is ours.
    """
    check_level("confidence", confidence)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not np.all((p > 0) & (p <= 1)):
        raise ValueError("p_values must be a non-empty vector of numbers in (0, 1].")
    if num_calibration < 1:
        raise ValueError("num_calibration must be at least 1.")
    n, m = num_calibration, p.size
    ranks = np.ceil(p * (n + 1) * (1 - 1e-12) - 1e-9).astype(np.int64)
    grid = rank_grid(n)
    envelope = np.append(_envelope(grid, n, m, confidence, np.random.default_rng(seed)), m)
    called = np.cumsum(np.bincount(ranks, minlength=n + 2)[1:])  # [n + 1]
    wrong = envelope[np.searchsorted(grid, np.arange(1, n + 2))]
    right = np.maximum.accumulate(np.maximum(called - wrong, 0))
    return 1.0 - right[ranks - 1] / called[ranks - 1]


def rank_grid(num_calibration: int) -> Counts:
    """At most `NUM_RANKS` ranks from 1 to n, all of the first ones, then ever wider apart."""
    if num_calibration <= NUM_RANKS:
        return np.arange(1, num_calibration + 1)
    spread = np.rint(np.geomspace(1, num_calibration, NUM_RANKS)).astype(np.int64)
    return np.unique(spread)


def _envelope(grid: Counts, n: int, m: int, confidence: float, rng: np.random.Generator) -> Counts:
    """Most null p-values at or below rank/(n+1) for each rank of the grid, all at once [J]."""
    paths = _null_paths(grid, n, m, rng)
    cells = [_Cells(int(j), n, m, int(paths[:, i].max())) for i, j in enumerate(grid)]
    least = np.ones(NUM_PATHS)
    for i, cell in enumerate(cells):
        least = np.minimum(least, cell.tail(paths[:, i]))
    rank = math.floor((1 - confidence) * (NUM_PATHS + 1) + 1e-9)
    gamma = float(np.sort(least)[rank - 1]) if rank else 0.0
    return np.array([cell.largest(gamma) for cell in cells], dtype=np.int64)


def _null_paths(grid: Counts, n: int, m: int, rng: np.random.Generator) -> Counts:
    """Counts [B, J] of m null candidates ahead of the j-th best of n calibration scores.

    Given the calibration scores' order statistics, whose gaps are gamma variables over their sum,
    the counts between neighbours are multinomial.
    """
    shapes = np.append(np.diff(grid, prepend=0), n + 1 - grid[-1])
    gaps = rng.standard_gamma(shapes, size=(NUM_PATHS, shapes.size))
    shares = gaps / gaps.sum(axis=1, keepdims=True)
    return np.cumsum(rng.multinomial(m, shares)[:, :-1], axis=1)


class _Cells:
    """Tail probabilities of C ~ BetaBinomial(m; j, n+1−j) on cells of neighbouring counts.

    Up to a standard deviation of 256 a cell is one count and the tails are exact.  Wider cells
    take the probability of their middle count times their width.  The envelope is calibrated on
    the same cells, so its coverage does not rest on that approximation.
    """

    def __init__(self, j: int, n: int, m: int, largest_path: int) -> None:
        share = j / (n + 1)
        deviation = math.sqrt(m * share * (1 - share) * (n + 1 + m) / (n + 2))
        mean = m * share
        self.width = max(1, int(deviation / CELLS_A_DEVIATION))
        self.start = max(0, int(mean - 10 * deviation))
        self.most = m
        end = min(m, max(largest_path, int(mean + 12 * deviation) + 1))
        starts = np.arange(self.start, end + 1, self.width)
        middle = np.minimum(starts + (self.width - 1) / 2, m)
        mass = self.width * np.exp(_log_probability(middle, j, n, m))
        self.tails = np.minimum(1.0, np.cumsum(mass[::-1])[::-1])

    def tail(self, counts: Counts) -> Floats:
        """P(C ≥ first count of the cell) for counts [B]."""
        cell = np.clip((counts - self.start) // self.width, 0, self.tails.size - 1)
        return self.tails[cell]

    def largest(self, gamma: float) -> int:
        """The largest count whose cell has a tail of at least gamma."""
        cell = int(np.count_nonzero(self.tails >= gamma)) - 1
        if cell == self.tails.size - 1:
            return self.most
        return min(self.most, self.start + (cell + 1) * self.width - 1)


def _log_probability(c: Floats, j: int, n: int, m: int) -> Floats:
    """log P(C = c) = log [(c+j−1 choose c)·(n+m−c−j choose m−c) / (n+m choose m)]."""
    before = gammaln(c + j) - gammaln(c + 1) - gammaln(j)
    after = gammaln(n + m - c - j + 1) - gammaln(m - c + 1) - gammaln(n - j + 1)
    return before + after - (gammaln(n + m + 1) - gammaln(m + 1) - gammaln(n + 1))
