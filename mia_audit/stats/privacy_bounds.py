"""Lower bounds on ε and μ from the confusion counts of one attack at one fixed cut-off.

The trials must be independent of one another and of the cut-off.  Where a model's decisions share
one training run, use ``pooled_epsilon_lower_bound`` instead.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@overload
def clopper_pearson(
    successes: float, trials: float, *, confidence: float = ...
) -> tuple[float, float]: ...
@overload
def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, *, confidence: float = ...
) -> tuple[Floats, Floats]: ...
def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, *, confidence: float = 0.95
) -> tuple[float, float] | tuple[Floats, Floats]:
    """Exact two-sided interval of a binomial share, each side at level (1 − confidence)/2.

    ``successes`` and ``trials`` broadcast; they may be fractional (effective counts).  No trials
    give (0, 1).  Returns floats for scalars, float arrays otherwise.

    Raises ValueError unless 0 ≤ successes ≤ trials and 0 < confidence < 1.
    Source: Clopper & Pearson 1934, through the beta quantiles.
    """
    check_level("confidence", confidence)
    level = (1 - confidence) / 2
    lower = clopper_pearson_lower(successes, trials, level=level)
    upper = 1 - clopper_pearson_lower(np.subtract(trials, successes), trials, level=level)
    if np.ndim(lower) == 0:
        return float(lower), float(upper)
    return np.asarray(lower), np.asarray(upper)


def clopper_pearson_lower(successes: ArrayLike, trials: ArrayLike, *, level: float) -> Floats:
    """One-sided lower Clopper–Pearson bound: it exceeds the true share with probability ≤ level."""
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    if not np.all((k >= 0) & (k <= n)):
        raise ValueError("Binomial counts must satisfy 0 <= successes <= trials; check the counts.")
    with np.errstate(invalid="ignore"):
        bound = scipy.stats.beta.ppf(level, k, n - k + 1)
    return np.where(k > 0, bound, 0.0)


def epsilon_lower_bound(
    true_positives: int,
    false_negatives: int,
    false_positives: int,
    true_negatives: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> float:
    """Lower bound on the ε of (ε, δ)-differential privacy from independent trials at one cut-off.

    ε ≥ log((TPR_lo − δ)/FPR_hi) and log((TNR_lo − δ)/FNR_hi), with TPR_lo and FPR_hi one-sided at
    level (1 − confidence)/2 each and TNR_lo = 1 − FPR_hi, FNR_hi = 1 − TPR_lo: one pair of bounds
    serves both ratios.  Looking at K cut-offs, levels, records or attacks and keeping the best
    needs ``confidence`` 1 − (1 − confidence)/K.  Never negative.

    Raises ValueError for negative counts, δ outside [0, 1) or confidence outside (0, 1).
    Source: arXiv 2101.04535 (Nasr et al. 2021).
    """
    check_delta(delta)
    tpr_lower, fpr_upper = _rate_bounds(
        true_positives, false_negatives, false_positives, true_negatives, confidence
    )
    return max(
        _log_ratio(tpr_lower - delta, fpr_upper),
        _log_ratio(1 - fpr_upper - delta, 1 - tpr_lower),
    )


def mu_lower_bound(
    true_positives: int,
    false_negatives: int,
    false_positives: int,
    true_negatives: int,
    *,
    confidence: float = 0.95,
) -> float:
    """Lower bound on the μ of μ-Gaussian differential privacy, same trials as for ε.

    μ ≥ Φ⁻¹(1 − FPR_hi) − Φ⁻¹(FNR_hi), both at level (1 − confidence)/2; never negative.
    Source: arXiv 1905.02383 (Dong, Roth & Su), arXiv 2302.07956 (Nasr et al. 2023).
    """
    tpr_lower, fpr_upper = _rate_bounds(
        true_positives, false_negatives, false_positives, true_negatives, confidence
    )
    return max(0.0, float(scipy.stats.norm.isf(fpr_upper) + scipy.stats.norm.ppf(tpr_lower)))


def gdp_epsilon(mu: float, delta: float) -> float:
    """The ε at which μ-Gaussian differential privacy holds with this δ.

    Inverts δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ); arXiv 1905.02383, corollary 2.13.  With δ = 0
    it is ∞ for every μ > 0.  An ε obtained this way holds only if the mechanism is Gaussian.

    Raises ValueError for negative or infinite μ or δ outside [0, 1).
    """
    check_delta(delta)
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu must be finite and at least 0, got {mu!r}.")
    if mu == 0:
        return 0.0
    if delta == 0:
        return math.inf
    if _gdp_delta(0.0, mu) <= delta:
        return 0.0
    # δ(ε) ≤ Φ(μ/2 − ε/μ) brackets the root; the step up keeps rounding from hiding it.
    upper = mu * (mu / 2 + float(scipy.stats.norm.isf(delta))) * (1 + 1e-9) + 1e-9
    return float(
        scipy.optimize.brentq(lambda eps: _gdp_delta(eps, mu) - delta, 0.0, upper, xtol=1e-12)
    )


def check_level(name: str, value: float) -> None:
    """Raise ValueError unless 0 < value < 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")


def check_delta(delta: float) -> None:
    """Raise ValueError unless 0 ≤ δ < 1."""
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}.")


def _rate_bounds(
    true_positives: int,
    false_negatives: int,
    false_positives: int,
    true_negatives: int,
    confidence: float,
) -> tuple[float, float]:
    """(TPR_lo, FPR_hi), each failing with probability at most (1 − confidence)/2."""
    members = true_positives + false_negatives
    non_members = false_positives + true_negatives
    tpr_lower, _ = clopper_pearson(true_positives, members, confidence=confidence)
    _, fpr_upper = clopper_pearson(false_positives, non_members, confidence=confidence)
    return tpr_lower, fpr_upper


def _log_ratio(numerator: float, denominator: float) -> float:
    """max(0, log(numerator/denominator)), 0 where the numerator is not positive."""
    return max(0.0, math.log(numerator / denominator)) if numerator > 0 else 0.0


def _gdp_delta(epsilon: float, mu: float) -> float:
    first = float(scipy.stats.norm.cdf(mu / 2 - epsilon / mu))
    return first - math.exp(epsilon + float(scipy.stats.norm.logcdf(-mu / 2 - epsilon / mu)))
