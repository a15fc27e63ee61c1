"""Lower bounds on ε from all decisions of many rows, however a row's decisions depend on another.

Letters: R target rows (models), N records; decisions bool [R, N], True = "member"; members bool
[R, N].  The cut-off must have been fixed without looking at these rows.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logit

from mia_audit.stats.privacy_bounds import check_delta, check_level, clopper_pearson_lower

Bools = NDArray[np.bool_]


def pooled_epsilon_lower_bound(
    decisions: ArrayLike,
    members: ArrayLike,
    *,
    fraction: float = 0.5,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> float:
    """Lower bound on ε from the guesses "member" alone, under any dependence within a row.

    Memberships must be independent coins of bias ``fraction`` (the `bernoulli` design).  Given all
    else, a guess "member" is right with odds at most e^ε·fraction/(1 − fraction), so
    ε ≥ logit CP_lo(TP; TP + FP) − logit(fraction), one-sided.  δ > 0 is known for ``fraction`` ½
    only, elsewhere nan.  The best of K cut-offs, attacks or seeds needs ``confidence``
    1 − (1 − confidence)/K for each.  Never negative; 0 without guesses.

    Raises ValueError for mismatched shapes and for δ, fraction or confidence out of range.
    Source: arXiv 2305.08846 (Steinke, Nasr & Jagielski), theorem 5.2; add/remove adjacency.
    """
    hits, truth = _checked(decisions, members, fraction, delta, confidence)
    if delta > 0 and fraction != 0.5:
        return math.nan
    right, guesses = int(np.count_nonzero(hits & truth)), int(np.count_nonzero(hits))
    if guesses == 0:
        return 0.0
    precision = float(clopper_pearson_lower(right, guesses, level=1 - confidence))
    pure = max(0.0, float(logit(precision) - logit(fraction)))
    if delta == 0 or pure == 0:
        return pure
    tail = _DeltaTail(right, guesses, 2 * delta * hits.size)
    if tail.excess(0.0, 1 - confidence) >= 0:
        return 0.0
    if tail.excess(pure, 1 - confidence) <= 0:  # δ below the rounding of b
        return pure
    return float(scipy.optimize.brentq(tail.excess, 0.0, pure, args=(1 - confidence,), xtol=1e-10))


def pooled_epsilon_ratio(
    decisions: ArrayLike,
    members: ArrayLike,
    *,
    fraction: float = 0.5,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> float:
    """Approximate lower bound on ε from the ratio of the pooled rates, rows as the only units.

    The largest ε at which D = mean over records of h·i/p − e^ε·h·(1 − i)/(1 − p), less δ, has a
    one-sided t lower bound above 0 over the R rows; h the decision, i the membership, p
    ``fraction``.  Never negative; nan without a false positive, where the t bound says nothing.

    Raises ValueError as `pooled_epsilon_lower_bound`, and for fewer than 2 rows.
    """
    hits, truth = _checked(decisions, members, fraction, delta, confidence)
    if len(hits) < 2:
        raise ValueError(f"The pooled ratio needs at least 2 target rows, got {len(hits)}.")
    gain = np.mean(hits & truth, axis=1) / fraction - delta
    loss = np.mean(hits & ~truth, axis=1) / (1 - fraction)
    if not loss.any():
        return math.nan
    reach = float(scipy.stats.t.ppf(confidence, len(hits) - 1)) ** 2 / len(hits)
    return math.log(max(1.0, _fieller_lower(gain, loss, reach)))


def _fieller_lower(gain: NDArray[np.float64], loss: NDArray[np.float64], reach: float) -> float:
    """Largest x with mean(gain − x·loss) > √(reach·var(gain − x·loss)), 0 if there is none.

    Its square is the quadratic a·x² − 2b·x + c > 0 left of the ratio of the means.
    """
    covariance = np.cov(gain, loss)
    a = loss.mean() ** 2 - reach * covariance[1, 1]
    b = gain.mean() * loss.mean() - reach * covariance[0, 1]
    c = gain.mean() ** 2 - reach * covariance[0, 0]
    discriminant = b * b - a * c
    if a > 0:  # then real roots enclose the ratio of the means; only rounding says otherwise
        discriminant = max(0.0, discriminant)
    if discriminant < 0 or gain.mean() <= 0:
        return 0.0
    root = (b - math.sqrt(discriminant)) / a if b <= 0 else c / (b + math.sqrt(discriminant))
    return root if 0 < root <= gain.mean() / loss.mean() * (1 + 1e-9) else 0.0


class _DeltaTail:
    """P-value of v right guesses of r under (ε, δ), as a function of ε."""

    def __init__(self, right: int, guesses: int, weight: float) -> None:
        """``weight`` is 2mδ, m the number of decision entries."""
        self.right, self.guesses, self.weight = right, guesses, weight
        # Below r/2 − 20√r the binomial holds nothing at any ε ≥ 0, while i only grows.
        lowest = max(0, math.floor(guesses / 2 - 20 * math.sqrt(guesses)))
        self._counts = np.arange(right - 1, lowest - 1, -1)
        self._log_choose = (
            gammaln(guesses + 1.0)
            - gammaln(self._counts + 1.0)
            - gammaln(guesses - self._counts + 1.0)
        )

    def excess(self, epsilon: float, level: float) -> float:
        """b + 2mδ·max_i P[v > B ≥ v − i]/i − level, B ~ Bin(r, e^ε/(1 + e^ε)), b = P(B ≥ v)."""
        success = 1 / (1 + math.exp(-epsilon))
        log_pmf = (
            self._log_choose
            + self._counts * math.log(success)
            + (self.guesses - self._counts) * -math.log1p(math.exp(epsilon))
        )
        windows = np.cumsum(np.exp(log_pmf)) / np.arange(1, self._counts.size + 1)
        beyond = float(scipy.stats.binom.sf(self.right - 1, self.guesses, success))
        return beyond + self.weight * float(windows.max()) - level


def _checked(
    decisions: ArrayLike, members: ArrayLike, fraction: float, delta: float, confidence: float
) -> tuple[Bools, Bools]:
    check_delta(delta)
    check_level("fraction", fraction)
    check_level("confidence", confidence)
    hits, truth = np.asarray(decisions), np.asarray(members)
    if hits.ndim != 2 or hits.shape != truth.shape or hits.dtype != bool or truth.dtype != bool:
        raise ValueError(
            f"decisions {hits.shape} {hits.dtype} and members {truth.shape} {truth.dtype} must be "
            "boolean matrices [rows, records] of one shape."
        )
    return hits, truth
