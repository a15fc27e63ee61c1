"""One row of the table per method and level: TPR, achieved FPR, their limits and what to mind."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, nan

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.bin_judge import BINS, BinJudge
from mia_audit.stats.intervals import NOTHING, IntervalMethod, Judge
from mia_audit.stats.judges import (
    ExactStudentJudge,
    FixedJudge,
    PooledJudge,
    RegressionJudge,
    StudentJudge,
)
from mia_audit.stats.panel import Panel
from mia_audit.stats.panel_regression import PanelRegression
from mia_audit.stats.per_record import normal_record_tpr
from mia_audit.stats.record_judge import RecordJudge
from mia_audit.stats.student_t import fit_degrees_of_freedom

UNDIRECTED = "none"
METHODS = (
    "naive", "attack", "post_empirical", "post_conditional", "post_regression", "post_normal",
    "post_student_t", "post_student_t_exact", "post_empirical_estimated", "post_normal_estimated",
    "post_student_t_estimated", "per_record", "per_record_normal",
)  # fmt: skip


@dataclass(frozen=True)
class OperatingPoint:
    """A method at one level α. Unavailable numbers are nan, and `note` says why.

    `tpr` with 95 % limits `lower`, `upper`; `fpr` is the achieved one, with limits where it is not
    near α by construction. `direction`: positive, estimated, or none where a method has none.
    """

    method: str
    alpha: float
    fpr: float
    fpr_lower: float
    fpr_upper: float
    tpr: float
    lower: float
    upper: float
    direction: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Contestant:
    """A method with the judge that decides for it."""

    method: str
    direction: str
    judge: Judge


def contestants(panel: Panel, direction: str = "positive") -> Iterator[Contestant]:
    """The pooled methods of a table, one after the other, so that one at a time is in memory."""
    yield from undirected(panel, panel.naive())
    pooled = panel.pooled(direction)
    df = fitted_df(panel, pooled.statistic)
    yield from standardised(panel, pooled, df, direction)
    del pooled
    yield conditional(panel, panel.standardised(direction), direction)
    yield regression(panel, direction)
    yield from estimated(panel, panel.pooled("estimated"), df)


def undirected(panel: Panel, naive: PooledJudge) -> Iterator[Contestant]:
    """LiRA, and the chosen attack, each under one cut-off."""
    yield Contestant("naive", UNDIRECTED, naive)
    if panel.statistic is not None:
        yield Contestant("attack", UNDIRECTED, PooledJudge(panel.statistic, panel.entries))


def standardised(
    panel: Panel, pooled: PooledJudge, df: float, direction: str
) -> Iterator[Contestant]:
    """The rules on standardised scores that know of no bins or shapes; `df` is `fitted_df`."""
    z, entries = pooled.statistic, panel.entries
    exact = ExactStudentJudge(z, entries, panel.records.n_out)
    yield Contestant("post_empirical", direction, pooled)
    yield Contestant("post_normal", direction, FixedJudge(z, entries, normal_cutoff))
    yield Contestant("post_student_t", direction, StudentJudge(pooled, df))
    yield Contestant("post_student_t_exact", direction, exact)


def conditional(panel: Panel, z: NDArray, direction: str) -> Contestant:
    """A cut-off in each bin of μ_out/σ_out; `z` [M, N] are standardised scores."""
    return Contestant("post_conditional", direction, BinJudge(z, panel.bins(BINS), panel.entries))


def regression(panel: Panel, direction: str) -> Contestant:
    """A cut-off for each record's shape; nothing is computed before a level is asked for."""
    margin = PanelRegression(panel, direction).margin
    return Contestant("post_regression", direction, RegressionJudge(margin, panel.entries))


def estimated(panel: Panel, pooled: PooledJudge, df: float) -> Iterator[Contestant]:
    """The rules on scores that are turned where the estimated effect is negative; the same `df`."""
    z = pooled.statistic
    fixed = FixedJudge(z, panel.entries, normal_cutoff)
    yield Contestant("post_empirical_estimated", "estimated", pooled)
    yield Contestant("post_normal_estimated", "estimated", fixed)
    yield Contestant("post_student_t_estimated", "estimated", StudentJudge(pooled, df))


def normal_cutoff(level: float) -> float:
    """z_α."""
    return float(scipy.stats.norm.isf(level))


def fitted_df(panel: Panel, z: NDArray) -> float:
    """Degrees of freedom of the t that fits the out scores best, whatever the signs of z."""
    sample = panel.sample
    return fit_degrees_of_freedom(z[:, sample][panel.entries.outside[:, sample]])


def judged_point(contestant: Contestant, alpha: float, intervals: IntervalMethod) -> OperatingPoint:
    """The point of one method at one level."""
    judged = contestant.judge(alpha)
    bounds = intervals.bounds(contestant.judge, judged, alpha)
    return OperatingPoint(
        contestant.method,
        alpha,
        judged.fpr,
        *bounds.fpr,
        judged.tpr,
        *bounds.tpr,
        contestant.direction,
        "; ".join(filter(None, [judged.note, bounds.note])),
    )


def record_point(judge: RecordJudge, alpha: float, intervals: IntervalMethod) -> OperatingPoint:
    """The mean of the records' own TPRs, from M ≥ 2/α models on; noisy below 10/α."""
    num_models, wanted = len(judge.scores), ceil(10 / alpha * (1 - 1e-9))
    if num_models < 2 / alpha * (1 - 1e-9):
        note = f"needs M ≥ {wanted}"
        return OperatingPoint("per_record", alpha, nan, *NOTHING, nan, *NOTHING, UNDIRECTED, note)
    point = judged_point(Contestant("per_record", UNDIRECTED, judge), alpha, intervals)
    point = replace(point, fpr=alpha)
    if num_models >= wanted:
        return point
    noisy = f"noisy: M = {num_models} is below {wanted}"
    return replace(point, note="; ".join(filter(None, [noisy, point.note])))


def normal_record_point(panel: Panel, alpha: float, exact: OperatingPoint) -> OperatingPoint:
    """The mean of the analytic per-record TPRs, beside the FPR that normal theory achieves here.

    That FPR is the one of `post_student_t_exact`, which is α for normal scores at any M.
    """
    tpr = normal_record_tpr(panel.records, alpha).tpr
    known = np.isfinite(tpr)
    return OperatingPoint(
        "per_record_normal",
        alpha,
        exact.fpr,
        exact.fpr_lower,
        exact.fpr_upper,
        float(tpr[known].mean()) if known.any() else nan,
        *NOTHING,
        UNDIRECTED,
        f"assumes normal scores{few_models_note(panel.num_models, alpha)}; the achieved FPR is "
        "that of post_student_t_exact",
    )


def few_models_note(num_models: int, alpha: float) -> str:
    """Plug-in rates read too high where a record's moments are rough: M below 1/α."""
    few = num_models * alpha < 1
    return f"; reads too high with fewer than {ceil(1 / alpha)} models" if few else ""
