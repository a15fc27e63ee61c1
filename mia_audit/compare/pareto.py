"""The Pareto front of utility and leak: the defences that no other beats in both."""

from __future__ import annotations

import numpy as np


def pareto_front(utility: np.ndarray, leak: np.ndarray) -> np.ndarray:
    """bool [D]: no other point has at least this utility and at most this leak, and one better.

    Points [D] with a nan are never on the front; equal points are on it together.
    """
    utility, leak = np.asarray(utility, dtype=float), np.asarray(leak, dtype=float)
    as_good = (utility[:, None] >= utility) & (leak[:, None] <= leak)
    better = (utility[:, None] > utility) | (leak[:, None] < leak)
    known = np.isfinite(utility) & np.isfinite(leak)
    return known & ~(as_good & better).any(axis=0)
