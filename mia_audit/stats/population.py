"""Vulnerability for the population beside vulnerability within this pool, as rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.finite_population import NoiseShare, population_tpr
from mia_audit.stats.operating_points import OperatingPoint, few_models_note

METHOD = "population"


@dataclass(frozen=True)
class NoiseEstimate:
    """λ, the share of a score's variance that training adds to the sampling of training sets.

    `inside` for members, `outside` for non-members; `source` says from what, in words.
    """

    inside: float
    outside: float
    source: str


def population_points(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    alphas: Sequence[float],
    num_train: float,
    num_pool: int | None = None,
    noise_share: NoiseShare = 0.0,
) -> list[OperatingPoint]:
    """Mean over records of `population_tpr` at each α: the plug-in of arXiv 2605.25819.

    `scores`, `members` [M, N]; options and errors as `population_tpr`. The figure has no
    interval of its own and no achieved FPR: no fresh model was judged.
    """
    points = []
    for alpha in alphas:
        tpr = population_tpr(
            scores, members, alpha,
            num_train=num_train, num_pool=num_pool, noise_share=noise_share,
        )  # fmt: skip
        points.append(
            OperatingPoint(
                method=METHOD,
                alpha=alpha,
                fpr=nan,
                fpr_lower=nan,
                fpr_upper=nan,
                tpr=float(np.nanmean(tpr)),
                lower=nan,
                upper=nan,
                direction="positive",
                note="for training sets drawn afresh; assumes normal scores"
                + few_models_note(scores.shape[0], alpha),
            )
        )
    return points
