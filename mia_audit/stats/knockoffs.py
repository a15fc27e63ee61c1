"""A knockoff filter for membership, as a baseline to see beside `select_members`.

Every record is scored beside synthetic copies of itself (paraphrases, say).  A record that was
trained on should score above its copies; one that was not should be as likely above as below.

**The guarantee rests on that last sentence.**  Copies written by a generator are seldom
exchangeable with originals: where they score a little lower, false discoveries exceed the level
(.18 at .1 for copies lower by a tenth of the records' spread, tests/guarantees), while conformal
p-values of the same statistic against real non-members keep it.

Letters: m records, K copies of each; higher = more likely a member.
The idea is that of KTD (Hu et al., ICLR 2025, openreview XAN8G0rvoB), whose statistic is not
public code; the statistic here is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mia_audit.stats.privacy_bounds import check_level

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnockoffSelection:
    """``indices`` [k] of selected records, ascending; W [m]; W ≥ ``threshold`` is selected.

    The threshold is +∞ where nothing is.
    """

    indices: NDArray[np.int64]
    statistics: Floats
    threshold: float
    alpha: float


def knockoff_statistics(scores: ArrayLike, copies: ArrayLike) -> Floats:
    """W [m]: each record's score [m] minus the mean score of its copies [m, K] (or [m]).

    Antisymmetric: exchanging a record with its copies' mean turns the sign.  With one copy, or with
    scores that are symmetric about a record's own centre, the sign of a non-member is a fair coin.

    Raises ValueError for shapes that do not agree or NaN.
    """
    own = np.asarray(scores, dtype=np.float64)
    table = np.asarray(copies, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if own.ndim != 1 or table.ndim != 2 or table.shape[0] != own.size or table.shape[1] == 0:
        raise ValueError(
            f"scores must be [records] and copies [records, copies], got {own.shape} and "
            f"{np.shape(copies)}."
        )
    if np.isnan(own).any() or np.isnan(table).any():
        raise ValueError("scores and copies must not hold NaN; drop these records first.")
    return own - table.mean(axis=1)


def select_with_knockoffs(statistics: ArrayLike, alpha: float) -> KnockoffSelection:
    """The knockoff+ filter: select W ≥ T for the smallest T > 0 that keeps the estimate at alpha.

    T = min{t > 0 : (1 + #{W ≤ −t}) / max(1, #{W ≥ t}) ≤ α}.  FDR ≤ α where signs of non-members are
    independent fair coins given |W|.  O(m log m).

    Raises ValueError for alpha outside (0, 1), or statistics that are no vector or hold NaN.
    Source: Barber & Candès 2015 (arXiv 1404.5609), eq. 1.9.
    """
    check_level("alpha", alpha)
    w = np.asarray(statistics, dtype=np.float64)
    if w.ndim != 1 or np.isnan(w).any():
        raise ValueError(f"statistics must be a vector without NaN, got shape {w.shape}.")
    cuts = np.unique(np.abs(w[w != 0]))
    ordered = np.sort(w)
    at_least = w.size - np.searchsorted(ordered, cuts, side="left")
    mirrored = np.searchsorted(ordered, -cuts, side="right")
    allowed = (1 + mirrored) <= alpha * np.maximum(1, at_least) * (1 + 1e-12)
    threshold = float(cuts[np.argmax(allowed)]) if allowed.any() else np.inf
    return KnockoffSelection(np.flatnonzero(w >= threshold), w, threshold, alpha)
