"""An evaluation: every model as target once, every method at every level, with what qualifies it.

Shapes: M models, N records, A levels α. Higher score = more likely a member. Sources:
arXiv 2605.25819 (post-processing), arXiv 2112.03570 (LiRA).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.densities import Densities, score_densities
from mia_audit.stats.exposed import most_exposed
from mia_audit.stats.halves import split_halves
from mia_audit.stats.intervals import IntervalMethod, interval_method
from mia_audit.stats.judges import PooledJudge, rank_of, share_above
from mia_audit.stats.moments import Moments, check_matrices
from mia_audit.stats.normality import Normality, check_normality
from mia_audit.stats.operating_points import (
    METHODS,
    Contestant,
    OperatingPoint,
    conditional,
    contestants,
    estimated,
    fitted_df,
    judged_point,
    normal_record_point,
    record_point,
    regression,
    standardised,
    undirected,
)
from mia_audit.stats.panel import Panel, build_panel
from mia_audit.stats.per_record import negative_effects, record_table
from mia_audit.stats.record_judge import RecordJudge
from mia_audit.stats.roc import Roc, thinned_roc_of_sorted
from mia_audit.stats.spread import Spread, excess_sds, fpr_spread, record_fprs

__all__ = ["Evaluation", "OperatingPoint", "evaluate"]

MAX_VERTICES = 2000
RULES = ("naive", "post_empirical")  # whose evenness over records is looked at


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` found.

    `records`: tpr, lower, upper (analytic), tpr_empirical, fpr (post_empirical) and fpr_naive,
    each [A, N]; delta, n_in, n_out [N]. `roc` and `auc` are those of the standardised scores,
    `roc_naive` and `auc_naive` of LiRA's likelihood ratio; curves are thinned, areas are not.
    `exposed`: columns record, alpha, tpr, lower, upper of the most exposed records, ranked on one
    half of the models and measured on the other. `nan_entries` counts entries left out of the
    table, `floored_share` those with a variance at its floor, `negative_share` records whose score
    clearly falls with membership. `balanced_accuracy` is that of LLR > 0.
    """

    points: list[OperatingPoint]
    records: dict[str, NDArray]
    roc: Roc
    roc_naive: Roc
    auc: float
    auc_naive: float
    balanced_accuracy: float
    normality: Normality
    spread: list[Spread]
    densities: Densities
    exposed: dict[str, NDArray]
    alphas: tuple[float, ...]
    num_models: int
    num_records: int
    floored_share: float
    nan_entries: int
    negative_share: float

    def point(self, method: str, alpha: float) -> OperatingPoint:
        """The point of a method at a level; KeyError when the table has none."""
        for point in self.points:
            if point.method == method and isclose(point.alpha, alpha):
                return point
        raise KeyError(f"no point for method {method!r} at alpha {alpha:g}")


def evaluate(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    statistic: NDArray | None = None,
    moments: Moments | None = None,
    direction: str = "positive",
    alphas: Sequence[float] = (0.1, 0.01, 0.001),
    intervals: str = "clustered",
) -> Evaluation:
    """Judge every model of a sweep as a target against all the others.

    `scores` float [M, N], `members` bool [M, N]. `statistic` [M, N] is the output of a chosen
    attack, reported as method `attack`. `moments` replaces the leave-one-out moments of the scores
    (finite-population correction). `direction` is that of the post-processed rules, `intervals`
    one of clustered, bootstrap, none.
    Raises ValueError when the matrices do not fit together, a level lies outside (0, 1), a name is
    unknown, or no entry has two other models in and two out.
    """
    check_request(scores, members, statistic, direction, alphas)
    method = interval_method(intervals)
    panel = build_panel(scores, members, statistic=statistic, moments=moments)
    check_panel(panel)
    halves = split_halves(scores, members) if moments is None else None
    excess = {rule: excess_sds(halves, rule, direction, alphas) for rule in RULES}
    exposed = most_exposed(halves, alphas)
    del halves
    # One after the other, so that one statistic and its sorted scores are in memory at a time.
    naive = _judge_naive(panel, alphas, method)
    post = _judge_standardised(panel, direction, alphas, method)
    rest = [
        *judged_points([regression(panel, direction)], alphas, method),
        *judged_points(estimated(panel, panel.pooled("estimated"), post.df), alphas, method),
    ]
    own = RecordJudge(panel.scores, panel.entries)
    rest += record_points(panel, own, post.points, alphas, method)
    return Evaluation(
        points=in_order([*naive.points, *post.points, *rest]),
        records=record_table(panel, own, post.fpr, naive.fpr, alphas),
        roc=post.roc,
        roc_naive=naive.roc,
        auc=post.roc.auc,
        auc_naive=naive.roc.auc,
        balanced_accuracy=naive.balanced_accuracy,
        normality=post.normality,
        spread=[
            *fpr_spread("naive", naive.fpr, excess["naive"], panel.entries, alphas),
            *fpr_spread(
                "post_empirical", post.fpr, excess["post_empirical"], panel.entries, alphas
            ),
        ],
        densities=post.densities,
        exposed=exposed,
        alphas=tuple(float(alpha) for alpha in alphas),
        num_models=panel.num_models,
        num_records=int(members.shape[1]),
        floored_share=panel.floored_share,
        nan_entries=panel.nan_entries,
        negative_share=float(negative_effects(panel.records).mean()),
    )


class _Naive(NamedTuple):
    """What is read off LiRA's likelihood ratio."""

    points: list[OperatingPoint]
    roc: Roc
    fpr: NDArray[np.float64]
    balanced_accuracy: float


class _Standardised(NamedTuple):
    """What is read off the standardised scores."""

    points: list[OperatingPoint]
    roc: Roc
    fpr: NDArray[np.float64]
    densities: Densities
    normality: Normality
    df: float


def _judge_naive(panel: Panel, alphas: Sequence[float], method: IntervalMethod) -> _Naive:
    naive = panel.naive()
    return _Naive(
        judged_points(undirected(panel, naive), alphas, method),
        thinned_roc(naive),
        record_fprs(naive, alphas),
        balanced_accuracy(naive),
    )


def _judge_standardised(
    panel: Panel, direction: str, alphas: Sequence[float], method: IntervalMethod
) -> _Standardised:
    pooled = panel.pooled(direction)
    df = fitted_df(panel, pooled.statistic)
    is_positive = direction == "positive"
    z = pooled.statistic if is_positive else panel.standardised("positive")
    found = _Standardised(
        judged_points(standardised(panel, pooled, df, direction), alphas, method),
        thinned_roc(pooled),
        record_fprs(pooled, alphas),
        score_densities(pooled),
        check_normality(panel, z, alphas),
        df,
    )
    z = pooled.statistic
    del pooled  # its sorted scores are as large as z, and so are those of all bins
    found.points.extend(judged_points([conditional(panel, z, direction)], alphas, method))
    return found


def operating_points(
    panel: Panel,
    direction: str,
    alphas: Sequence[float],
    intervals: IntervalMethod,
    *,
    without: Collection[str] = (),
) -> list[OperatingPoint]:
    """All methods at all levels, but those named in `without`."""
    kept = (c for c in contestants(panel, direction) if c.method not in without)
    points = judged_points(kept, alphas, intervals)
    own = RecordJudge(panel.scores, panel.entries)
    return in_order([*points, *record_points(panel, own, points, alphas, intervals)])


def judged_points(
    contestants: Iterable[Contestant], alphas: Sequence[float], intervals: IntervalMethod
) -> list[OperatingPoint]:
    """Each of some methods at each level."""
    return [judged_point(c, alpha, intervals) for c in contestants for alpha in alphas]


def record_points(
    panel: Panel,
    own: RecordJudge,
    points: Sequence[OperatingPoint],
    alphas: Sequence[float],
    intervals: IntervalMethod,
) -> list[OperatingPoint]:
    """The two rows of per-record cut-offs; `points` hold the exact-t rule's."""
    own.look_up(alphas)
    exact = {p.alpha: p for p in points if p.method == "post_student_t_exact"}
    return [
        *(record_point(own, alpha, intervals) for alpha in alphas),
        *(normal_record_point(panel, alpha, exact[alpha]) for alpha in alphas),
    ]


def in_order(points: list[OperatingPoint]) -> list[OperatingPoint]:
    """The rows as tables show them, whatever the order they were computed in."""
    return sorted(points, key=lambda point: METHODS.index(point.method))


def thinned_roc(judge: PooledJudge) -> Roc:
    """The curve of a judge's statistic, light enough to draw and to store."""
    return thinned_roc_of_sorted(judge.sorted_in, judge.sorted_out, MAX_VERTICES)


def balanced_accuracy(naive: PooledJudge) -> float:
    """(TPR + TNR)/2 when LLR > 0 is called a member."""
    rejects = rank_of(naive.sorted_out, 0.0) / naive.sorted_out.size
    return float(share_above(naive.sorted_in, 0.0) + rejects) / 2


def check_request(
    scores: NDArray,
    members: NDArray,
    statistic: NDArray | None,
    direction: str,
    alphas: Sequence[float],
) -> None:
    """Raise ValueError for what cannot be evaluated as asked."""
    check_matrices(scores, members)
    if statistic is not None and np.shape(statistic) != scores.shape:
        raise ValueError(
            f"statistic has shape {np.shape(statistic)}, scores {scores.shape}; give them one."
        )
    if direction not in ("positive", "estimated"):
        raise ValueError(f"direction is {direction!r}; choose 'positive' or 'estimated'.")
    if not alphas or not all(0 < alpha < 1 for alpha in alphas):
        raise ValueError(f"alphas are {list(alphas)}; give at least one, each between 0 and 1.")


def check_panel(panel: Panel) -> None:
    """Raise ValueError when there is nothing to judge."""
    if not panel.entries.num_inside.total or not panel.entries.num_outside.total:
        raise ValueError(
            f"With {panel.num_models} models no member or no non-member entry has two other models "
            "in and two out; an audit needs at least 6 models, and 16 to say anything."
        )
