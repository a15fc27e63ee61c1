"""What every rule of one table reads: standardised scores, likelihood ratios, one valid mask.

Shapes: M models, N records. Built once per evaluation, by blocks of records.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.judges import PooledJudge
from mia_audit.stats.moments import VARIANCE_FLOOR, Moments
from mia_audit.stats.shapes import shape_covariates
from mia_audit.stats.standardisation import moment_blocks, standardise_block
from mia_audit.stats.student_t import fit_degrees_of_freedom


@dataclass(frozen=True, eq=False)
class RecordMoments:
    """Each record's moments over all models, arrays [N]; nan where a class has too few models."""

    mean_in: NDArray[np.float64]
    var_in: NDArray[np.float64]
    n_in: NDArray[np.int64]
    mean_out: NDArray[np.float64]
    var_out: NDArray[np.float64]
    n_out: NDArray[np.int64]

    @property
    def delta(self) -> NDArray[np.float64]:
        """μ_in − μ_out: by how much membership raises the score."""
        return self.mean_in - self.mean_out


@dataclass(frozen=True, eq=False)
class Panel:
    """Statistics [M, N] with NaN at the same entries, and the masks of the entries that count.

    `z` standardised score, `llr` LiRA online, `covariate` the leave-one-out μ_out/σ_out,
    `negative` where the estimated effect is below 0, `statistic` the chosen attack's output.
    """

    scores: NDArray
    members: NDArray[np.bool_]
    z: NDArray[np.float64]
    llr: NDArray[np.float64]
    covariate: NDArray[np.float64]
    negative: NDArray[np.bool_]
    statistic: NDArray | None
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    records: RecordMoments
    floored_share: float

    @property
    def nan_entries(self) -> int:
        """Entries without enough shadow models for some rule of the table."""
        return int(self.inside.size - self.inside.sum() - self.outside.sum())

    @property
    def num_models(self) -> int:
        """M."""
        return int(self.members.shape[0])

    @cached_property
    def naive(self) -> PooledJudge:
        """LiRA's likelihood ratio under one cut-off."""
        return PooledJudge(self.llr, self.inside, self.outside)

    @cached_property
    def positive(self) -> PooledJudge:
        """The standardised scores under one cut-off."""
        return PooledJudge(self.z, self.inside, self.outside)

    @cached_property
    def shapes(self) -> NDArray[np.float32]:
        """[3, M, N], see `shape_covariates`; of the scores as they are, whatever the moments."""
        return shape_covariates(self.scores, self.members)

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Those of the t that fits the out scores best; the sign of a score does not matter."""
        return fit_degrees_of_freedom(self.z[self.outside])

    def pooled(self, direction: str) -> PooledJudge:
        """The standardised scores of a direction under one cut-off."""
        if direction == "positive":
            return self.positive
        return PooledJudge(self.directed(direction), self.inside, self.outside)

    def directed(self, direction: str) -> NDArray[np.float64]:
        """z, turned round for `estimated` where the estimated effect is negative."""
        return self.z if direction == "positive" else np.where(self.negative, -self.z, self.z)


def build_panel(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    statistic: NDArray | None = None,
    moments: Moments | None = None,
) -> Panel:
    """Scores and members [M, N] (checked) → the panel; `moments` replaces the computed ones."""
    shape = scores.shape
    z, llr, covariate = (np.empty(shape) for _ in range(3))
    negative = np.empty(shape, dtype=bool)
    floored = 0
    parts = []
    for columns, block in moment_blocks(scores, members, moments):
        values = scores[:, columns]
        z[:, columns] = standardise_block(values, block)
        llr[:, columns] = log_likelihood_ratio(values, block)
        covariate[:, columns] = block.mean_out / np.sqrt(block.var_out)
        negative[:, columns] = block.mean_in < block.mean_out
        floored += int((np.fmin(block.var_in, block.var_out) <= VARIANCE_FLOOR * 1.001).sum())
        parts.append(full_moments(members[:, columns], block))
    valid = np.isfinite(z) & np.isfinite(llr)
    if statistic is not None:
        valid &= ~np.isnan(statistic)
    z[~valid] = np.nan
    llr[~valid] = np.nan
    return Panel(
        scores,
        members,
        z,
        llr,
        covariate,
        negative,
        statistic,
        valid & members,
        valid & ~members,
        RecordMoments(*(np.concatenate(column) for column in zip(*parts, strict=True))),
        floored / scores.size,
    )


def log_likelihood_ratio(scores: NDArray, moments: Moments) -> NDArray[np.float64]:
    """LiRA online, log N(score; in) − log N(score; out), per record (arXiv 2112.03570)."""
    return 0.5 * (
        np.log(moments.var_out / moments.var_in)
        + (scores - moments.mean_out) ** 2 / moments.var_out
        - (scores - moments.mean_in) ** 2 / moments.var_in
    )


def full_moments(members: NDArray[np.bool_], moments: Moments) -> tuple[NDArray, ...]:
    """Each record's moments over all models, read off the leave-one-out ones.

    Leaving out a model that trained on the record changes nothing in the out class, and the other
    way round; so corrected moments (finite population) come through corrected.
    """
    any_in = np.asarray(members.any(axis=0))
    any_out = np.asarray(~members.all(axis=0))
    row_in, row_out = members.argmax(axis=0), members.argmin(axis=0)
    columns = np.arange(members.shape[1])

    def at(values: NDArray, rows: NDArray, there: NDArray) -> NDArray:
        return np.where(there, np.asarray(values)[rows, columns], np.nan)

    n_in = members.sum(axis=0, dtype=np.int64)
    return (
        at(moments.mean_in, row_out, any_out),
        at(moments.var_in, row_out, any_out),
        n_in,
        at(moments.mean_out, row_in, any_in),
        at(moments.var_out, row_in, any_in),
        members.shape[0] - n_in,
    )
