"""One row of the table per method and level: TPR, achieved FPR, their limits and what to mind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, nan

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.bin_judge import BinJudge
from mia_audit.stats.cutoffs import exact_cutoffs
from mia_audit.stats.intervals import NOTHING, IntervalMethod, Judge
from mia_audit.stats.judges import FixedJudge, PooledJudge, RegressionJudge, StudentJudge
from mia_audit.stats.panel import Panel
from mia_audit.stats.per_record import normal_record_tpr
from mia_audit.stats.record_judge import RecordJudge
from mia_audit.stats.thresholds import num_out_shadows

UNDIRECTED = "none"


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
    masks = (panel.inside, panel.outside)
    yield Contestant("naive", UNDIRECTED, panel.naive)
    if panel.statistic is not None:
        yield Contestant("attack", UNDIRECTED, PooledJudge(panel.statistic, *masks))
    pooled = panel.pooled(direction)
    z, df = pooled.statistic, panel.degrees_of_freedom
    yield Contestant("post_empirical", direction, pooled)
    yield Contestant("post_conditional", direction, BinJudge(z, panel.covariate, *masks))
    shapes = partial(getattr, panel, "shapes")  # costly, so not before a level is asked for
    yield Contestant("post_regression", direction, RegressionJudge(z, *masks, shapes))
    yield Contestant("post_normal", direction, FixedJudge(z, *masks, normal_cutoff))
    yield Contestant("post_student_t", direction, StudentJudge(pooled, df))
    yield Contestant("post_student_t_exact", direction, FixedJudge(z, *masks, exact_of(panel)))
    pooled = panel.pooled("estimated")
    z = pooled.statistic
    yield Contestant("post_empirical_estimated", "estimated", pooled)
    yield Contestant("post_normal_estimated", "estimated", FixedJudge(z, *masks, normal_cutoff))
    yield Contestant("post_student_t_estimated", "estimated", StudentJudge(pooled, df))


def normal_cutoff(level: float) -> float:
    """z_α."""
    return float(scipy.stats.norm.isf(level))


def exact_judge(panel: Panel) -> FixedJudge:
    """The exact-t rule on the standardised scores, direction positive."""
    return FixedJudge(panel.z, panel.inside, panel.outside, exact_of(panel))


def exact_of(panel: Panel) -> Callable[[float], NDArray[np.float64]]:
    """level → exact-t cut-offs [M, N], by the number of out shadows of each entry."""
    return lambda level: exact_cutoffs(panel.num_models, level)[num_out_shadows(panel.members)]


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


def record_point(panel: Panel, alpha: float, intervals: IntervalMethod) -> OperatingPoint:
    """The mean of the records' own TPRs, from M ≥ 2/α models on; noisy below 10/α."""
    num_models, wanted = panel.num_models, ceil(10 / alpha * (1 - 1e-9))
    if num_models < 2 / alpha * (1 - 1e-9):
        note = f"needs M ≥ {wanted}"
        return OperatingPoint("per_record", alpha, nan, *NOTHING, nan, *NOTHING, UNDIRECTED, note)
    judge = RecordJudge(panel.scores, panel.inside, panel.outside)
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
