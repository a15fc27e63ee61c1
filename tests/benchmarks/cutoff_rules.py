"""Cut-off rules for standardised scores, those of the package and candidates to beat them.

Each rule reads the out entries of a sweep once and returns the cut-off on z of any entry, from
what the shadows of that entry say about its record: μ/σ, σ and skewness. K shadow models, N
records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mia_audit.stats.cutoffs import (
    assign_bins,
    conformal_cutoff,
    exact_cutoffs,
    merge_bins,
    quantile_edges,
    student_cutoff,
)
from mia_audit.stats.shape_regression import ShapeRegression
from mia_audit.stats.shapes import shape_covariates
from mia_audit.stats.standardisation import standardise
from mia_audit.stats.student_t import fit_degrees_of_freedom

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shapes:
    """What the out shadows say of each entry's record; z is nan where there is no score to judge.

    All arrays have one shape. `ratio` is μ/σ.
    """

    z: Floats
    ratio: Floats
    log_sd: Floats
    skew: Floats
    n: Floats

    def pick(self, mask: NDArray) -> Shapes:
        """The entries of a mask, flat."""
        return Shapes(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))


Covariate = Callable[[Shapes], Floats]
Cutoff = Callable[[Shapes], Floats]
Rule = Callable[[Shapes, float], Cutoff]


def sweep_shapes(scores: Floats, out: NDArray[np.bool_]) -> Shapes:
    """All out entries of a sweep, flat, each model's own score left out (arguments [K, N])."""
    origin = _origin(scores, out)
    deviation = np.where(out, scores - origin, 0.0)
    sums = [(deviation**k).sum(axis=0) - deviation**k for k in (1, 2, 3)]
    return _shapes(deviation, origin, out.sum(axis=0) - 1.0, sums).pick(out)


def record_shapes(scores: Floats, out: NDArray[np.bool_]) -> Shapes:
    """What the same sweep says of each record to a model that is not in it, [N]."""
    origin = _origin(scores, out)
    deviation = np.where(out, scores - origin, 0.0)
    sums = [(deviation**k).sum(axis=0) for k in (1, 2, 3)]
    return _shapes(np.full(origin.shape, np.nan), origin, out.sum(axis=0) * 1.0, sums)


def standardised(scores: Floats, shapes: Shapes) -> Floats:
    """z [J, N] of fresh models' scores [J, N] in units of `record_shapes`."""
    sd = np.exp(shapes.log_sd)
    return scores / sd - shapes.ratio


def _origin(scores: Floats, out: NDArray[np.bool_]) -> Floats:
    return np.where(out, scores, 0.0).sum(axis=0) / out.sum(axis=0)


def _shapes(deviation: Floats, origin: Floats, n: Floats, sums: list[Floats]) -> Shapes:
    mean, m2, m3 = (s / n for s in sums)
    variance = m2 - mean**2
    third = m3 - 3 * mean * m2 + 2 * mean**3
    sd = np.sqrt(variance * n / (n - 1))
    return Shapes(
        z=(deviation - mean) / sd,
        ratio=(origin + mean) / sd,
        log_sd=np.log(sd),
        skew=third / variance**1.5 * np.sqrt(n * (n - 1)) / (n - 2),
        n=np.broadcast_to(n, mean.shape),
    )


def normal(fit: Shapes, alpha: float) -> Cutoff:
    return lambda of: np.full(of.n.shape, stats.norm.isf(alpha))


def fitted_t(fit: Shapes, alpha: float) -> Cutoff:
    cut = student_cutoff(alpha, fit_degrees_of_freedom(fit.z))
    return lambda of: np.full(of.n.shape, cut)


def exact_t(fit: Shapes, alpha: float) -> Cutoff:
    cuts = exact_cutoffs(int(fit.n.max()) + 1, alpha)
    return lambda of: cuts[of.n.astype(np.int64)]


def shifted(fit: Shapes, alpha: float, base: Cutoff) -> Cutoff:
    """`base` moved by the conformal quantile of z − base over the sweep's out entries."""
    shift = conformal_cutoff(np.sort(fit.z - base(fit)), alpha)
    return lambda of: base(of) + shift


def binned(fit: Shapes, alpha: float, base: Cutoff, by: Covariate, bins: int) -> Cutoff:
    """`shifted` within quantile bins of a covariate, merged as `Conditional` does."""
    edges = quantile_edges(by(fit), bins)
    finest = assign_bins(by(fit), edges)
    merged = merge_bins(np.bincount(finest, minlength=bins), alpha)
    rest, bin_of = fit.z - base(fit), merged[finest]
    shifts = np.array(
        [conformal_cutoff(np.sort(rest[bin_of == b]), alpha) for b in range(merged[-1] + 1)]
    )
    return lambda of: base(of) + shifts[merged[assign_bins(by(of), edges)]]


def zero(of: Shapes) -> Floats:
    return np.zeros(of.n.shape)


def ratio(of: Shapes) -> Floats:
    return of.ratio


def log_sd(of: Shapes) -> Floats:
    return of.log_sd


def shrinker(fit: Shapes, bins: int = 20) -> Covariate:
    """Skewness pulled towards its mean at that μ/σ, by the share of its variance that is noise."""
    bin_of = assign_bins(fit.ratio, quantile_edges(fit.ratio, bins))
    centres, levels = (
        np.array([values[bin_of == b].mean() for b in range(bins)])
        for values in (fit.ratio, fit.skew)
    )
    rest = fit.skew - np.interp(fit.ratio, centres, levels)
    kept = max(0.0, 1 - float(np.mean(6 / fit.n)) / float(rest.var()))

    def shrunk(of: Shapes) -> Floats:
        level = np.interp(of.ratio, centres, levels)
        return level + kept * (of.skew - level)

    return shrunk


def two_way(
    fit: Shapes, alpha: float, base: Cutoff, by: Covariate, *, bins: int = 5, inner: int = 4
) -> Cutoff:
    """`bins` of μ/σ, and within each `inner` bins of a second covariate."""
    edges = quantile_edges(fit.ratio, bins)
    bin_of = assign_bins(fit.ratio, edges)
    cuts = [binned(fit.pick(bin_of == b), alpha, base, by, inner) for b in range(bins)]

    def cutoff(of: Shapes) -> Floats:
        return np.choose(assign_bins(of.ratio, edges), [cut(of) for cut in cuts])

    return cutoff


_SKEWNESSES = np.linspace(-4, 4, 801)


def pearson(fit: Shapes, alpha: float) -> Cutoff:
    """The quantile of a Pearson III distribution with the shrunk skewness."""
    quantiles, shrunk = stats.pearson3.isf(alpha, _SKEWNESSES), shrinker(fit)
    return lambda of: np.interp(shrunk(of), _SKEWNESSES, quantiles)


def cornish_fisher(fit: Shapes, alpha: float) -> Cutoff:
    """z_α + g/6·(z_α² − 1) with the shrunk skewness g."""
    point, shrunk = stats.norm.isf(alpha), shrinker(fit)
    return lambda of: point + shrunk(of) / 6 * (point**2 - 1)


def for_few_shadows(fit: Shapes, alpha: float, base: Cutoff) -> Cutoff:
    """A normal-theory cut-off widened as the exact t is."""
    exact = exact_t(fit, alpha)
    return lambda of: base(of) * exact(of) / stats.norm.isf(alpha)


@dataclass(frozen=True, eq=False)
class ByShape:
    """The package's regression on some covariates of a sweep (arguments [K, N])."""

    regression: ShapeRegression
    known: NDArray[np.float32]  # covariates of each record to a model that is not in the sweep

    @classmethod
    def of(cls, scores: Floats, out: NDArray[np.bool_], chosen: list[int]) -> ByShape:
        everywhere = np.vstack([~out, np.ones((1, out.shape[1]), dtype=bool)])
        covariates = shape_covariates(np.vstack([scores, scores[:1]]), everywhere)[chosen]
        z = standardise(scores, ~out)
        return cls(ShapeRegression(z, covariates[:, :-1], out), covariates[:, -1])

    def cutoff(self, level: float) -> Cutoff:
        """Its cut-offs of fresh models, one a record."""
        regression = self.regression
        margin = regression.margin(level)
        cut = np.full(margin.shape[1], conformal_cutoff(np.sort(margin[regression.outside]), level))
        if regression.is_rich(level):
            heights = regression.heights(self.known, regression.fold, level)
            cut = np.maximum(cut + heights, regression.floor(level))
        return lambda of: cut
