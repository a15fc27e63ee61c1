"""Cut-off rules on standardised scores, so that every record has the same false-positive rate.

Shapes: M models, N records. `members` bool [M, N], True where the record was in the training set.
z [M, N] is what `standardise` returns; NaN marks an entry without enough shadow models. Every
decision is `z > cut-off`, strictly: a tie is no hit, and NaN never is.
Source: arXiv 2605.25819; the conditional, the exact-t and the regression rule are this
package's own.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import (
    assign_bins,
    conformal_cutoff,
    exact_cutoffs,
    merge_bins,
    quantile_edges,
    student_cutoff,
)
from mia_audit.stats.shape_regression import ShapeRegression
from mia_audit.stats.standardisation import standardise
from mia_audit.stats.student_t import fit_degrees_of_freedom

__all__ = [
    "Conditional",
    "Empirical",
    "ExactStudentT",
    "Normal",
    "Regression",
    "StudentT",
    "standardise",
]


def valid_out(z: NDArray, members: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Non-member entries that hold a number."""
    return ~members & ~np.isnan(z)


def num_out_shadows(members: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[M, N] out shadows of each entry, the entry's own model left out."""
    return (~members).sum(axis=0, dtype=np.int64) - ~members


@dataclass(frozen=True)
class Empirical:
    """One cut-off: the conformal quantile of all out scores, the target model's included."""

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"."""
        return z > conformal_cutoff(np.sort(z[valid_out(z, members)]), alpha)


@dataclass(frozen=True)
class Normal:
    """The normal quantile z_α: right for many shadows, too many false positives with few."""

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"."""
        return z > scipy.stats.norm.isf(alpha)


@dataclass(frozen=True)
class StudentT:
    """t.isf(α, df), df fitted by maximum likelihood to all out scores (location 0, scale 1)."""

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"."""
        return z > student_cutoff(alpha, fit_degrees_of_freedom(z[valid_out(z, members)]))


@dataclass(frozen=True)
class ExactStudentT:
    """t.isf(α, n−1)·√(1+1/n), n the out shadows of the entry: exact for normal scores."""

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"."""
        return z > exact_cutoffs(int(members.shape[0]), alpha)[num_out_shadows(members)]


@dataclass(frozen=True)
class Conditional:
    """One conformal cut-off for each of at most `bins` quantile bins of the covariate."""

    bins: int = 10

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"; `covariate` [M, N] is the leave-one-out μ_out/σ_out.

        Raises ValueError without a covariate.
        """
        if covariate is None:
            raise ValueError(
                "Conditional cut-offs need a covariate: pass covariate=μ_out/σ_out, shaped like z."
            )
        out = valid_out(z, members)
        finest = assign_bins(covariate, quantile_edges(covariate[out], self.bins))
        merged = merge_bins(np.bincount(finest[out], minlength=self.bins), alpha)
        bin_of = merged[finest]
        values, labels = z[out], bin_of[out]
        cutoffs = np.array(
            [conformal_cutoff(np.sort(values[labels == b]), alpha) for b in range(merged[-1] + 1)]
        )
        return z > cutoffs[bin_of]


@dataclass(frozen=True)
class Regression:
    """A cut-off for each record from the shape of its scores, then one conformal shift for all.

    The upper α quantile of z is regressed on what the out shadows say of the record (μ/σ, log σ²,
    skewness), cross-fitted over records. With fewer than ten scores expected above it for each
    column of the regression, the same as `Empirical`.
    """

    def decide(
        self,
        z: NDArray,
        members: NDArray[np.bool_],
        alpha: float,
        covariate: NDArray | None = None,
    ) -> NDArray[np.bool_]:
        """Decisions [M, N], True = "member"; `covariate` [K, M, N] is from `shape_covariates`.

        Raises ValueError without covariates.
        """
        if covariate is None or covariate.shape[1:] != z.shape:
            raise ValueError(
                "Regression cut-offs need covariates [K, M, N]: pass "
                "covariate=shape_covariates(scores, members)."
            )
        out = valid_out(z, members)
        margin = ShapeRegression(z, covariate, out).margin(alpha)
        return margin > conformal_cutoff(np.sort(margin[out]), alpha)
