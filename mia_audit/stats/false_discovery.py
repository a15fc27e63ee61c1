"""Bounds on the false discovery proportion that hold for every cut-off at once.

Letters: n calibration scores, m candidates, B simulated paths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from mia_audit.stats.privacy_bounds import check_level

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

NUM_PATHS = 2_000
BLOCK = 4_000_000  # entries of the tail table held at once


def false_discovery_bounds(
    p_values: ArrayLike, num_calibration: int, *, confidence: float = 0.9, seed: int = 0
) -> Floats:
    """Upper bound [m] on the false discovery proportion of {p ≤ t}, at each sorted p-value t.

    With probability at least ``confidence`` all bounds hold together, so a cut-off may be chosen
    after looking.  ``p_values`` [m]: unscaled conformal p-values against ``num_calibration``
    non-members; the result follows them in ascending order.

    The number of null p ≤ j/(n+1) is beta-binomial(m; j, n+1−j); the envelope over j is the
    largest count whose tail probability is at least γ, γ calibrated on simulated paths.

    Raises ValueError for empty, NaN or out-of-range p-values, or no calibration scores.
    Source: arXiv 2605.20726.
    """
    check_level("confidence", confidence)
    ordered = _checked(p_values, num_calibration)
    n, m = num_calibration, ordered.size
    envelope = _envelope(n, m, confidence, np.random.default_rng(seed))
    ranks = np.ceil(ordered * (n + 1) * (1 - 1e-12) - 1e-9).astype(int)
    called = np.searchsorted(ordered, ordered, side="right")
    return np.minimum(1.0, envelope[np.clip(ranks, 1, n + 1) - 1] / called)


def _envelope(n: int, m: int, confidence: float, rng: np.random.Generator) -> Counts:
    """Most null p-values at or below j/(n+1) for j = 1 … n+1, all at once."""
    paths = _null_paths(n, m, rng)
    least = np.ones(NUM_PATHS)
    for start, tails in _tail_blocks(n, m):
        columns = np.arange(len(tails))
        reached = tails[columns, paths[:, start + columns]]
        least = np.minimum(least, reached.min(axis=1))
    rank = math.floor((1 - confidence) * (NUM_PATHS + 1) + 1e-9)
    gamma = np.sort(least)[rank - 1] if rank else 0.0
    largest = [(tails >= gamma).sum(axis=1) - 1 for _, tails in _tail_blocks(n, m)]
    return np.append(np.concatenate(largest), m)


def _null_paths(n: int, m: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Counts [B, n] of null candidates ahead of the j-th best calibration score."""
    paths = np.empty((NUM_PATHS, n), dtype=np.int32)
    for path in paths:
        path[:] = np.searchsorted(np.sort(rng.random(m)), np.sort(rng.random(n)))
    return paths


def _tail_blocks(n: int, m: int) -> Iterator[tuple[int, Floats]]:
    """P(C_j ≥ c) for c = 0 … m as blocks of rows; each comes with its first row, j − 1."""
    log_factorial = gammaln(np.arange(n + m + 1) + 1.0)
    c = np.arange(m + 1)
    rows = max(1, BLOCK // (m + 1))
    for start in range(0, n, rows):
        j = np.arange(start, min(start + rows, n))[:, None] + 1
        before = log_factorial[c + j - 1] - log_factorial[c] - log_factorial[j - 1]
        after = log_factorial[n + m - c - j] - log_factorial[m - c] - log_factorial[n - j]
        total = log_factorial[n + m] - log_factorial[n] - log_factorial[m]
        pmf = np.exp(before + after - total)
        yield start, np.minimum(1.0, np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1])


def _checked(p_values: ArrayLike, num_calibration: int) -> Floats:
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.all((values > 0) & (values <= 1)):
        raise ValueError("p_values must be a non-empty vector of numbers in (0, 1].")
    if num_calibration < 1:
        raise ValueError("num_calibration must be at least 1.")
    return np.sort(values)
