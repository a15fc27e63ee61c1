"""Choosing a set of likely members with a bound on its share of false discoveries.

Letters: n calibration scores of known non-members, m candidate scores; higher = more likely a
member.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.member_share import ROUNDING, ShareEstimator, Subtraction
from mia_audit.stats.privacy_bounds import check_level

Floats = NDArray[np.float64]

EQUALITY = 1e-12  # relative, on p̃ ≤ kα/m: exact ties are kept


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates called members, and how the call came about.

    ``indices`` [k]: selected candidates, ascending.  ``p_values``, ``scaled_p_values`` [m].
    ``threshold``: scaled p-values at or below it are selected (0 when none is).
    ``smallest_alpha``: below this level these data select nothing.  ``note``: "" or a sentence.
    """

    indices: NDArray[np.int64]
    p_values: Floats
    scaled_p_values: Floats
    non_member_share: float
    threshold: float
    alpha: float
    num_calibration: int
    smallest_alpha: float
    note: str = ""

    @property
    def num_candidates(self) -> int:
        return self.p_values.size


def select_members(
    calibration: ArrayLike,
    candidates: ArrayLike,
    alpha: float,
    *,
    estimator: ShareEstimator = Subtraction(),  # noqa: B008 (a frozen value)
    ties: str = "conservative",
    seed: int = 0,
) -> Selection:
    """Select candidates so that the expected share of non-members among them is at most alpha.

    ``calibration`` [n] scores of known non-members, exchangeable with the non-members among
    ``candidates`` [m].  p-values are scaled by the estimated non-member share π̂₀, then thresholded
    by Benjamini–Hochberg: k* = max{k : p̃_(k) ≤ kα/m}, select p̃ ≤ k*α/m.

    Raises ValueError for alpha outside (0, 1) and for empty or NaN scores.
    Source: arXiv 2510.09717 (PTDI).
    """
    check_level("alpha", alpha)
    p_values = conformal_p_values(calibration, candidates, ties=ties, seed=seed)
    share, note = estimator.estimate(calibration, candidates)
    scaled = share * p_values
    adjusted = adjusted_p_values(scaled)
    selected = np.flatnonzero(adjusted <= alpha * (1 + EQUALITY))
    n, m = np.size(calibration), p_values.size
    empty = "" if selected.size else why_nothing(share, alpha, num_calibration=n, num_candidates=m)
    return Selection(
        indices=selected,
        p_values=p_values,
        scaled_p_values=scaled,
        non_member_share=share,
        threshold=selected.size * alpha / m,
        alpha=alpha,
        num_calibration=n,
        smallest_alpha=float(adjusted.min()),
        note=" ".join(filter(None, (note, empty))),
    )


def adjusted_p_values(p_values: Floats) -> Floats:
    """Smallest level at which Benjamini–Hochberg selects each of the p-values [m].

    Not cut off at 1 (SciPy's are), so that scaling by π̂₀ and adjusting commute.
    """
    m = p_values.size
    order = np.argsort(p_values, kind="stable")
    raw = p_values[order] * (m / np.arange(1, m + 1))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum.accumulate(raw[::-1])[::-1]
    return adjusted


def why_nothing(share: float, alpha: float, *, num_calibration: int, num_candidates: int) -> str:
    """The sentence shown when nothing is selected at non-member share ``share``."""
    m, n = num_candidates, num_calibration
    fewest = math.ceil(m * share / (alpha * (n + 1)) * (1 - EQUALITY) - ROUNDING)
    if fewest > m:
        enough = math.ceil(share / alpha - 1 - ROUNDING)
        return (
            f"No selection is possible: {n} calibration non-members are too few at "
            f"alpha = {alpha:g} and an estimated non-member share of {share:.3g}; "
            f"at least {enough} are needed."
        )
    return (
        f"Nothing is selected: with {n} calibration non-members and {m} candidates, alpha = "
        f"{alpha:g} needs at least {max(1, fewest)} candidates that beat every calibration score, "
        f"and more if they do not."
    )
