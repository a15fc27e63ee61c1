"""Conformal p-values: how a candidate ranks among known non-members.

Letters: n calibration scores of known non-members, m candidate scores; higher = more likely a
member.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Ties(StrEnum):
    """What a candidate that equals calibration scores gets."""

    conservative = "conservative"  # all of them count against discovery
    randomised = "randomised"  # a uniform share of them; exactly uniform under the null


def conformal_p_values(
    calibration: ArrayLike, candidates: ArrayLike, *, ties: str = "conservative", seed: int = 0
) -> Floats:
    """p-value [m] of "this candidate is a non-member" from calibration scores [n].

    ``conservative``: p = (1 + #{T_i ≥ T})/(n + 1).  ``randomised``: p = (#{T_i > T} +
    U·(1 + #{T_i = T}))/(n + 1) with U uniform on (0, 1] from ``seed``.  O((n + m) log n).

    Raises ValueError for empty, multi-dimensional or NaN scores, or an unknown ``ties``.
    Source: arXiv 2510.09717; randomised ties, Vovk et al. 2005.
    """
    calibration, candidates = checked_scores(calibration, candidates)
    if ties not in list(Ties):
        raise ValueError(f"ties must be one of {', '.join(Ties)}, got {ties!r}.")
    ordered = np.sort(calibration)
    n = ordered.size
    at_least = n - np.searchsorted(ordered, candidates, side="left")
    if ties == Ties.conservative:
        return (1 + at_least) / (n + 1)
    above = n - np.searchsorted(ordered, candidates, side="right")
    uniform = 1 - np.random.default_rng(seed).random(candidates.size)
    return (above + uniform * (1 + at_least - above)) / (n + 1)


def checked_scores(calibration: ArrayLike, candidates: ArrayLike) -> tuple[Floats, Floats]:
    """Both as float64 vectors; ValueError where one is empty, not a vector, or holds NaN."""
    return _checked("calibration", calibration), _checked("candidates", candidates)


def _checked(name: str, values: ArrayLike) -> Floats:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"{name} must be a non-empty vector of scores, got shape {scores.shape}.")
    missing = int(np.isnan(scores).sum())
    if missing:
        raise ValueError(f"{name} holds {missing} NaN scores; drop these records first.")
    return scores
