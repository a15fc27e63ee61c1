"""Who is still exposed under a defence, and whether they are the same records as without it.

Ranking and measuring on the same models would show the luckiest records, so records are ranked on
one half of the models and measured, or ranked again, on the other; both ways round, averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.exposed import rank_by_exposure
from mia_audit.stats.halves import split_halves
from mia_audit.stats.per_record import normal_record_tpr

SHARE, FEWEST = 0.01, 10
PERCENTILE = 99


@dataclass(frozen=True, eq=False)
class Exposure:
    """At one level: the `size` most exposed records by each half of the models, and their mean
    TPR as the other half measures it (nan with too few models to split)."""

    top: tuple[np.ndarray, np.ndarray] | None
    tpr: float


def num_exposed(num_records: int) -> int:
    """How many records count as most exposed: 1 %, at least 10."""
    return min(num_records, max(FEWEST, round(SHARE * num_records)))


def exposures(matrix: ScoreMatrix, alphas: Sequence[float]) -> dict[float, Exposure]:
    """The most exposed records of a sweep at each level."""
    halves = split_halves(matrix.scores, matrix.members)
    if halves is None:
        return {alpha: Exposure(None, nan) for alpha in alphas}
    size = num_exposed(matrix.num_records)
    found = {}
    for alpha in alphas:
        first, second = (rank_by_exposure(half, alpha)[:size] for half in halves)
        rates = [normal_record_tpr(half.records, alpha).tpr for half in halves]
        measured = np.concatenate([rates[1][first], rates[0][second]])
        known = measured[np.isfinite(measured)]
        found[alpha] = Exposure((first, second), float(known.mean()) if known.size else nan)
    return found


def overlap(reference: Exposure, other: Exposure) -> float:
    """Share of the most exposed records that both name, each on another half of the models.

    Of the reference with itself it is the most that ranking noise lets one hope for; records drawn
    at random would share 1 % (`num_exposed`/N).
    """
    if reference.top is None or other.top is None or not len(reference.top[0]):
        return nan
    pairs = ((reference.top[0], other.top[1]), (reference.top[1], other.top[0]))
    return float(np.mean([np.isin(one, two).mean() for one, two in pairs]))


def percentile(rates: np.ndarray) -> float:
    """99th percentile of the records' analytic TPRs [N], those without an estimate left out."""
    known = rates[np.isfinite(rates)]
    return float(np.percentile(known, PERCENTILE)) if known.size else nan
