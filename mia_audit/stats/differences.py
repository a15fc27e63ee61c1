"""Paired differences of the TPR between two sweeps on one membership design."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.influence import Judgement, two_way_variance
from mia_audit.stats.intervals import t_quantile, too_few_out
from mia_audit.stats.moments import check_matrices
from mia_audit.stats.operating_points import contestants
from mia_audit.stats.panel import build_panel


@dataclass(frozen=True)
class Difference:
    """TPR of the first sweep less that of the second at one level, with 95 % limits."""

    method: str
    alpha: float
    difference: float
    lower: float
    upper: float
    note: str = ""


def tpr_differences(
    first: NDArray,
    second: NDArray,
    members: NDArray[np.bool_],
    *,
    method: str = "post_empirical",
    alphas: Sequence[float] = (0.1, 0.01, 0.001),
) -> list[Difference]:
    """Differences at each level between two score matrices [M, N] with the same `members`.

    Records and models are paired, so what both sweeps share drops out: limits are
    p_A − p_B ± t·√V with the two-way clustered V of ψ_A − ψ_B. `method` is any pooled method of
    `evaluate` but `attack`. Raises ValueError for another method or for matrices that do not fit.
    """
    check_matrices(first, members)
    check_matrices(second, members)
    pairs = zip(
        contestants(build_panel(first, members)),
        contestants(build_panel(second, members)),
        strict=True,
    )
    for one, other in pairs:
        if one.method == method:
            return [
                paired_difference(method, alpha, one.judge(alpha), other.judge(alpha))
                for alpha in alphas
            ]
    raise ValueError(f"method {method!r} has no paired difference; choose a pooled one like naive.")


def paired_difference(method: str, alpha: float, first: Judgement, second: Judgement) -> Difference:
    """The difference of two judgements at one level; limits are nan with too few out scores."""
    difference = first.tpr - second.tpr
    if too_few_out(first, alpha) or too_few_out(second, alpha):
        note = "too few out scores for an interval"
        return Difference(method, alpha, difference, nan, nan, note)
    shape = first.entries.shape
    variance = two_way_variance(
        lambda block: first.tpr_influence(block) - second.tpr_influence(block), *shape
    )
    width = t_quantile(*shape) * float(np.sqrt(variance))
    return Difference(method, alpha, difference, difference - width, difference + width)
