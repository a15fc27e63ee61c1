"""The most exposed records, found on one half of the models and measured on the other.

Ranking and reporting on the same models shows the luckiest records, not the most exposed ones:
under no effect such intervals cover nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.panel import Panel
from mia_audit.stats.per_record import normal_record_tpr

MOST = 20
COLUMNS = ("record", "alpha", "tpr", "lower", "upper", "delta")


def most_exposed(
    halves: tuple[Panel, Panel] | None, alphas: Sequence[float], *, most: int = MOST
) -> dict[str, NDArray]:
    """Table of columns `COLUMNS`: at each level the `most` records with the highest TPR.

    The order is that of the first half of the models; tpr, limits and delta are those of the
    second. Empty with too few models to split.
    """
    parts: list[list[NDArray]] = [[] for _ in COLUMNS]
    for alpha in alphas if halves is not None else ():
        assert halves is not None
        chosen = rank_by_exposure(halves[0], alpha)[:most]
        found = normal_record_tpr(halves[1].records, alpha)
        levels = np.full(chosen.size, float(alpha))
        values = (found.tpr, found.lower, found.upper, halves[1].records.delta)
        for part, column in zip(parts, (chosen, levels, *(v[chosen] for v in values)), strict=True):
            part.append(column)
    empty = {name: np.empty(0, dtype=np.int64 if name == "record" else float) for name in COLUMNS}
    return {
        name: np.concatenate(part) if part else empty[name]
        for name, part in zip(COLUMNS, parts, strict=True)
    }


def rank_by_exposure(half: Panel, alpha: float) -> NDArray[np.int64]:
    """Records by falling analytic TPR, those without an estimate left out; ties by position."""
    score = normal_record_tpr(half.records, alpha).score
    order = np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable")
    return order[np.isfinite(score[order])]
