"""Is the direction of the score right?  The classic silent mistake, and what gives it away.

Letters: n and m scores, higher = more likely a member.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

Floats = NDArray[np.float64]

_Z_WARNING = 3.0


def direction_statement(is_higher_member: bool) -> str:
    """How the score was read, for every output."""
    direction = "higher" if is_higher_member else "lower"
    return f"a {direction} score counts as more likely trained on"


def candidates_warning(candidates: Floats, calibration: Floats, remedy: str) -> str:
    """A sentence when candidates look less like members than known non-members do, else "".

    Whatever the share of members among them, candidates should win at least half of the pairs.
    """
    won, z = pairs_won(candidates, calibration)
    if z > -_Z_WARNING:
        return ""
    return (
        "The candidates look LESS like training data than the calibration records do: a candidate"
        f" has the more member-like score in {_share(won, z)}. The direction of the score is"
        f" probably wrong{remedy}; otherwise the calibration records are not like the candidates,"
        " and the guarantee does not hold."
    )


def members_warning(members: Floats, calibration: Floats, remedy: str) -> str:
    """A sentence when confirmed members look less like members than non-members do, else ""."""
    won, z = pairs_won(members, calibration)
    if z > -_Z_WARNING:
        return ""
    return (
        "The confirmed members look LESS like training data than the calibration records do: they"
        f" have the more member-like score in {_share(won, z)}. The direction of the score is"
        f" probably wrong{remedy}."
    )


def pairs_won(first: Floats, second: Floats) -> tuple[float, float]:
    """Share of pairs in which a score of `first` is higher (ties half), and its z-score.

    The z-score is Mann and Whitney's, corrected for ties; 0 where all scores are equal.
    """
    n, m = first.size, second.size
    ranks = rankdata(np.concatenate([first, second]))
    wins = float(ranks[:n].sum() - n * (n + 1) / 2)
    variance = n * m / 12 * (n + m + 1) * _spread_of(ranks)
    return wins / (n * m), (wins - n * m / 2) / variance**0.5 if variance > 0 else 0.0


def _share(won: float, z: float) -> str:
    return f"{100 * won:.1f}% of pairs, where at least 50% is expected (p = {norm.cdf(z):.1g})"


def _spread_of(ranks: Floats) -> float:
    """1 without ties, 0 where all scores are equal."""
    size = ranks.size
    _, counts = np.unique(ranks, return_counts=True)
    tied = float(np.sum(counts.astype(float) ** 3 - counts))
    return 1 - tied / (size**3 - size)
