"""How the table changes with the number of models: is this sweep large enough?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.evaluation import Evaluation, check_request, operating_points
from mia_audit.stats.intervals import NoIntervals
from mia_audit.stats.operating_points import OperatingPoint
from mia_audit.stats.panel import build_panel

FEWEST_MODELS = 16
SLOW_METHODS = ("post_regression",)  # its fit costs as much with few models as with many


@dataclass(frozen=True)
class ConvergencePoint:
    """TPR and achieved FPR of a method at level α with the first `num_models` models; nan as in
    `OperatingPoint`.
    """

    num_models: int
    method: str
    alpha: float
    tpr: float
    fpr: float


def convergence(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    alphas: Sequence[float] = (0.1, 0.01, 0.001),
    direction: str = "positive",
    sizes: Sequence[int] | None = None,
) -> list[ConvergencePoint]:
    """The methods of `evaluate` but `post_regression` on the first 16, 32, … M models.

    `scores` and `members` [M, N]. `sizes` replaces the numbers of models. An attacker with fewer
    shadows is a weaker attacker: a rising TPR is expected, a flat end says M is enough.
    Raises ValueError as `evaluate`.
    """
    check_request(scores, members, None, direction, alphas)
    points = []
    for size in sizes if sizes is not None else doubling_sizes(scores.shape[0]):
        panel = build_panel(scores[:size], members[:size])
        found = operating_points(panel, direction, alphas, NoIntervals(), without=SLOW_METHODS)
        points += [convergence_point(size, point) for point in found]
    return points


def convergence_of(evaluation: Evaluation) -> list[ConvergencePoint]:
    """The last points of the curve, read off the evaluation of all models."""
    left_out = (*SLOW_METHODS, "attack")
    return [
        convergence_point(evaluation.num_models, point)
        for point in evaluation.points
        if point.method not in left_out
    ]


def convergence_point(num_models: int, point: OperatingPoint) -> ConvergencePoint:
    """What the curve keeps of a row of the table."""
    return ConvergencePoint(num_models, point.method, point.alpha, point.tpr, point.fpr)


def doubling_sizes(num_models: int) -> list[int]:
    """16, 32, … below M, and M itself."""
    sizes = []
    size = FEWEST_MODELS
    while size < num_models:
        sizes.append(size)
        size *= 2
    return [*sizes, num_models]
