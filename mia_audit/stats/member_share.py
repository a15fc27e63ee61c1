"""Estimators of the share of non-members π₀ among the candidates, to scale p-values with.

Letters: n calibration scores of known non-members, m candidate scores; higher = more likely a
member.  π̂₀ may exceed 1 by chance and is not clipped: the guarantee is E[π₀/π̂₀] ≤ 1.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mia_audit.stats.conformal import checked_scores, conformal_p_values
from mia_audit.stats.jackknife_beta import jackknife_beta_share
from mia_audit.stats.privacy_bounds import check_level, clopper_pearson_lower

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # inside ⌈·⌉ and ⌊·⌋, so that 0.1·30 is 3


class ShareEstimate(NamedTuple):
    """π̂₀ and a sentence on what was odd about it ("" if nothing was)."""

    share: float
    note: str = ""


class ShareEstimator(Protocol):
    """Calibration [n] and candidates [m] in, π̂₀ out."""

    name: ClassVar[str]

    def share(self, calibration: ArrayLike, candidates: ArrayLike) -> float: ...

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate: ...


class _Estimator:
    """``share`` from ``estimate``."""

    name: ClassVar[str]

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        raise NotImplementedError

    def share(self, calibration: ArrayLike, candidates: ArrayLike) -> float:
        """π̂₀ from calibration scores [n] and candidate scores [m]; ValueError on bad scores."""
        return self.estimate(calibration, candidates).share


@dataclass(frozen=True)
class NoScaling(_Estimator):
    """π̂₀ = 1: plain Benjamini–Hochberg."""

    name: ClassVar[str] = "none"

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        checked_scores(calibration, candidates)
        return ShareEstimate(1.0)


@dataclass(frozen=True)
class Subtraction(_Estimator):
    """Compare the shares of candidates and of calibration scores in the lowest tail (default).

    Members are rare below the η-quantile of the non-members.  η is raised to min(½, max(η, 10/m,
    10/n)) where data are few, so that the tail holds some ten scores of each.  FDR control is
    exact.  Source: arXiv 2510.09717 v1; the cut is an order statistic, never interpolated.
    """

    eta: float = 0.05
    name: ClassVar[str] = "subtraction"

    def __post_init__(self) -> None:
        check_level("eta", self.eta)

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        tail = lower_tail(*checked_scores(calibration, candidates), eta=self.eta)
        return tail.ratio()


@dataclass(frozen=True)
class Storey(_Estimator):
    """The share of p-values at or above λ, over the share expected of non-members.

    λ is moved to the grid: K = max(2, ⌈λ(n+1)⌉) ≤ n, λ := K/(n+1).  FDR control is exact.  More
    powerful than ``Subtraction`` where members stand apart and n is small.
    Source: Storey 2002, Storey, Taylor & Siegmund 2004.
    """

    lam: float = 0.5
    name: ClassVar[str] = "storey"

    def __post_init__(self) -> None:
        check_level("lam", self.lam)

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        calibration, candidates = checked_scores(calibration, candidates)
        n, m = calibration.size, candidates.size
        _require_two(n)
        rank = min(n, max(2, math.ceil(self.lam * (n + 1) - ROUNDING)))
        # p ≥ K/(n+1) in whole numbers: at least K − 1 calibration scores reach the candidate.
        cut = np.partition(calibration, n - rank + 1)[n - rank + 1]
        large = int(np.count_nonzero(candidates <= cut))
        return ShareEstimate((1 + large) / (m * (1 - rank / (n + 1))))


@dataclass(frozen=True, eq=False)
class Moment(_Estimator):
    """``Subtraction`` at η = ½, corrected for the members that lie in the lower half as well.

    ``confirmed_members`` [c]: scores of known members exchangeable with the candidate members.
    The correction uses the 95 % lower Clopper–Pearson bound of their share in the tail.
    Approximate: false discoveries stay at or near the level in simulations, without a proof.
    Ours; the correction of arXiv 2510.09717 v2 is not public.
    """

    confirmed_members: ArrayLike
    eta: float = 0.5
    name: ClassVar[str] = "moment"
    _confirmed: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_level("eta", self.eta)
        confirmed, _ = checked_scores(self.confirmed_members, [0.0])
        object.__setattr__(self, "_confirmed", confirmed)

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        calibration, candidates = checked_scores(calibration, candidates)
        tail = lower_tail(calibration, candidates, eta=self.eta)
        in_tail = np.count_nonzero(self._confirmed < tail.cut)
        known = float(clopper_pearson_lower(in_tail, self._confirmed.size, level=0.05))
        if known >= tail.calibration_share:  # the attack does not separate: nothing to correct
            return tail.ratio()
        share = (tail.candidate_share - known) / (tail.calibration_share - known)
        return ShareEstimate(max(share, 1 / candidates.size))


@dataclass(frozen=True)
class JackknifeBeta(_Estimator):
    """The bootstrapped jackknife beta-kernel estimate of the papers, for comparison only.

    **Not conservative**: false discoveries reach .106–.119 at a level of .1.  Every use warns.
    Source: arXiv 2510.09717 v2.
    """

    seed: int = 0
    name: ClassVar[str] = "jkbb"

    def estimate(self, calibration: ArrayLike, candidates: ArrayLike) -> ShareEstimate:
        note = "JackknifeBeta is not conservative: the false discovery rate may exceed alpha."
        warnings.warn(note, stacklevel=2)
        p_values = conformal_p_values(calibration, candidates)
        return ShareEstimate(jackknife_beta_share(p_values, seed=self.seed), note)


class LowerTail(NamedTuple):
    """Scores strictly below ``cut``: share f of calibration, share r of candidates (one added)."""

    cut: float
    calibration_share: float
    candidate_share: float

    def ratio(self) -> ShareEstimate:
        if self.calibration_share == 0:
            return ShareEstimate(1.0, "The lowest calibration scores are tied; no scaling is used.")
        return ShareEstimate(self.candidate_share / self.calibration_share)


def lower_tail(calibration: Floats, candidates: Floats, *, eta: float) -> LowerTail:
    """The tail below the (k+1)-th smallest calibration score, k = max(1, ⌊η'n⌋); n ≥ 2."""
    n, m = calibration.size, candidates.size
    _require_two(n)
    raised = min(0.5, max(eta, 10 / m, 10 / n))
    k = max(1, math.floor(raised * n + ROUNDING))
    cut = np.partition(calibration, k)[k]
    below = np.count_nonzero(calibration < cut)
    return LowerTail(float(cut), below / n, (1 + np.count_nonzero(candidates < cut)) / (m + 1))


def _require_two(num_calibration: int) -> None:
    if num_calibration < 2:
        raise ValueError("Estimating the member share needs at least 2 calibration scores.")
