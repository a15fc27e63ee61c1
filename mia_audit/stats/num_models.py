"""How many shadow models an audit needs."""

from __future__ import annotations

import math

import scipy

from mia_audit.stats.privacy_bounds import check_level

SMALLEST = 4  # two shadow models a class: the fewest that give a variance
LARGEST = 2**40


def num_models_needed(
    alpha: float, *, tpr: float | None = None, half_width: float | None = None
) -> int:
    """Number of models M for per-record true-positive rates at false-positive rate ``alpha``.

    Without ``half_width``: ⌈10/α⌉, the size from which the empirical per-record rates are printed.
    With it: the smallest M at which the analytic 95 % interval of a record whose rate is ``tpr``
    has half its width at most ``half_width`` (M/2 shadows in, M/2 out, equal variances).

    Raises ValueError for alpha, tpr or half_width outside (0, 1), or a width without a rate.
    """
    check_level("alpha", alpha)
    if tpr is not None:
        check_level("tpr", tpr)
    if half_width is None:
        return math.ceil(10 / alpha - 1e-9)
    check_level("half_width", half_width)
    if tpr is None:
        raise ValueError("half_width needs tpr: give the true-positive rate you expect to find.")
    return _smallest_meeting(half_width, alpha, tpr)


def _smallest_meeting(half_width: float, alpha: float, tpr: float) -> int:
    """Bisection: the width falls as M grows."""
    low, high = SMALLEST - 1, SMALLEST
    while _half_width(high, alpha, tpr) > half_width:
        low, high = high, high * 2
        if high > LARGEST:
            raise ValueError(f"half_width {half_width!r} is too narrow for any number of models.")
    while high - low > 1:
        middle = (low + high) // 2
        if _half_width(middle, alpha, tpr) > half_width:
            low = middle
        else:
            high = middle
    return high


def _half_width(num_models: int, alpha: float, tpr: float) -> float:
    n = num_models / 2
    u, cut = float(scipy.stats.norm.ppf(tpr)), float(scipy.stats.norm.isf(alpha))
    error = math.sqrt(2 / n + cut**2 / (2 * (n - 1)) + u**2 / (2 * (n - 1)))
    return (
        float(scipy.stats.norm.cdf(u + 1.96 * error) - scipy.stats.norm.cdf(u - 1.96 * error)) / 2
    )
