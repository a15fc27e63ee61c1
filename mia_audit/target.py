"""An existing model (a deployed one, say) judged against the sweep's models as its shadows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.evaluation import OperatingPoint
from mia_audit.stats.privacy_bounds import clopper_pearson
from mia_audit.stats.ptdi_target import TargetSelection, select_for_target, split_target
from mia_audit.stats.thresholds import standardise

if TYPE_CHECKING:
    from mia_audit.audit import AuditSettings


STRANGE = (
    "its non-members are accused far more often than asked: are its scores on the shadows' scale "
    "and in the order of the pool?"
)


@dataclass(frozen=True, eq=False)
class ExistingTarget:
    """φ of one model on the pool's records, and which of them it was trained on; both [N]."""

    scores: np.ndarray
    members: np.ndarray


@dataclass(frozen=True, eq=False)
class TargetResult:
    """The target's operating points (method `target`), the records selected on it by PTDI (None
    with too few non-members to calibrate on), and its membership [N]."""

    points: list[OperatingPoint]
    selection: TargetSelection | None
    members: np.ndarray

    @property
    def num_members(self) -> int:
        return int(self.members.sum())

    @property
    def num_non_members(self) -> int:
        return int((~self.members).sum())


def judge_target(
    target: ExistingTarget, matrix: ScoreMatrix, settings: AuditSettings
) -> TargetResult:
    """TPR and FPR of one target at cut-offs that the shadows alone have set.

    The cut-off is `post_empirical`'s: the ⌈(1−α)(n+1)⌉-th smallest of the n leave-one-out
    standardised non-member scores of all shadows (arXiv 2605.25819), fixed before the target
    is looked at; hence Clopper–Pearson intervals over the target's records, given the model.
    """
    z = _standardise(target.scores, matrix)
    shadow = standardise(matrix.scores, matrix.members)[~matrix.members]
    shadow = np.sort(shadow[np.isfinite(shadow)])
    points = [_point(z, target.members, shadow, alpha) for alpha in settings.alphas]
    return TargetResult(points, _select(z, target.members, settings), target.members)


def _select(z: np.ndarray, members: np.ndarray, settings: AuditSettings) -> TargetSelection | None:
    if not split_target(z, members, settings.member_share, (settings.seed, 0)).usable:
        return None
    return select_for_target(
        z,
        members,
        alpha=settings.selection_alpha,
        estimator=settings.estimator,
        member_share=settings.member_share,
        seed=settings.seed,
    )


def _point(z: np.ndarray, members: np.ndarray, shadow: np.ndarray, alpha: float) -> OperatingPoint:
    rank = int(np.ceil((1 - alpha) * (len(shadow) + 1) * (1 - 1e-12)))
    cut = shadow[rank - 1] if rank <= len(shadow) else np.inf
    judged = np.isfinite(z)
    hits, alarms = z[members & judged] > cut, z[~members & judged] > cut
    lower, upper = clopper_pearson(int(hits.sum()), len(hits))
    fpr_lower, fpr_upper = clopper_pearson(int(alarms.sum()), len(alarms))
    return OperatingPoint(
        method="target", alpha=alpha,
        fpr=float(alarms.mean()), fpr_lower=fpr_lower, fpr_upper=fpr_upper,
        tpr=float(hits.mean()), lower=lower, upper=upper,
        direction="positive",
        note=STRANGE if fpr_lower > 2 * alpha else "one model; interval over its records",
    )  # fmt: skip


def _standardise(scores: np.ndarray, matrix: ScoreMatrix) -> np.ndarray:
    """(φ − μ_out)/σ_out with the moments of all shadows; [N], nan with fewer than 2 out models."""
    out = np.where(matrix.members, np.nan, matrix.scores.astype(np.float64))
    few = (~matrix.members).sum(0) < 2
    out[:, few] = 0.0
    z = (scores - np.nanmean(out, axis=0)) / np.sqrt(np.maximum(np.nanvar(out, 0, ddof=1), 1e-12))
    return np.where(few, np.nan, z)
