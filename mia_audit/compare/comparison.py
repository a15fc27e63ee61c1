"""Audits of several defences → one row each, with the difference to the undefended models. Pure.

Letters: M models, N records, D defences, A levels α. Every number that is unavailable is nan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from mia_audit.audit import AuditResult, AuditSettings, audit
from mia_audit.compare.entries import REFERENCE
from mia_audit.compare.exposure import Exposure, exposures, num_exposed, overlap, percentile
from mia_audit.compare.pairing import (
    Judgements,
    judge,
    mean_difference,
    mean_with_limits,
    paired,
    unpaired,
)
from mia_audit.report.sentences import headline_point, selection_curve
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.differences import Difference
from mia_audit.stats.evaluation import OperatingPoint

HEADLINE, EXACT = "post_empirical", "post_student_t_exact"


@dataclass(frozen=True, eq=False)
class Subject:
    """One defence to compare: its complete matrix, how to audit it, and what is known of it.

    `attacker` says in a sentence whom the row assumes.
    """

    label: str
    matrix: ScoreMatrix
    settings: AuditSettings
    attacker: str


@dataclass(frozen=True)
class Level:
    """A defence at one level. `paired` (or, on different designs, `unpaired` alone) is the
    difference of the TPR to the reference; None for the reference itself."""

    point: OperatingPoint
    exact: OperatingPoint
    paired: Difference | None
    unpaired: Difference | None
    record_tpr: float  # 99th percentile over records of the analytic TPR
    exposed_tpr: float  # mean TPR of the most exposed, ranked on the other half of the models
    overlap: float  # of the most exposed with the reference's

    @property
    def alpha(self) -> float:
        return self.point.alpha

    @property
    def difference(self) -> Difference | None:
        return self.paired or self.unpaired


@dataclass(frozen=True, eq=False)
class Row:
    """All that a comparison says of one defence."""

    label: str
    attacker: str
    result: AuditResult
    levels: list[Level]
    test_accuracy: tuple[float, float, float]  # mean over models, 95 % limits
    train_accuracy: float
    accuracy_difference: tuple[float, float, float]  # to the reference, paired by model
    seconds: float
    cost: float  # seconds over the reference's

    @property
    def is_reference(self) -> bool:
        return self.label == REFERENCE

    def level(self, alpha: float) -> Level:
        return next(level for level in self.levels if math.isclose(level.alpha, alpha))

    @property
    def gap(self) -> float:
        """Training less test accuracy."""
        return self.train_accuracy - self.test_accuracy[0]

    @property
    def selection_power(self) -> float:
        """Share of members that PTDI finds at the configured level, averaged over targets."""
        curve = None if self.result.selection is None else selection_curve(self.result.selection)
        return nan if curve is None else curve.power

    @property
    def epsilon_accountant(self) -> float:
        claimed = self.result.epsilon_claimed
        return nan if claimed is None else claimed


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows in the order they were named, the reference first."""

    rows: list[Row]
    is_paired: bool
    num_exposed: int

    @property
    def reference(self) -> Row:
        return self.rows[0]

    @property
    def alphas(self) -> tuple[float, ...]:
        return self.reference.result.evaluation.alphas

    @property
    def lead_alpha(self) -> float:
        """The level to lead with: 1 %, else the nearest with an interval for the reference."""
        point = headline_point(self.reference.result.evaluation.points)
        return self.alphas[0] if point is None else point.alpha

    @property
    def refuted(self) -> list[Row]:
        """Defences whose claimed ε lies below the measured one."""
        return [row for row in self.rows if row.result.refutes_claim]


@dataclass(frozen=True, eq=False)
class _Reference:
    judged: Judgements
    exposed: dict[float, Exposure]
    test_accuracy: np.ndarray
    seconds: float


def compare(
    subjects: Sequence[Subject],
    *,
    is_paired: bool = True,
) -> Comparison:
    """Audit each subject, the first being the reference, and pair it with the reference.

    `is_paired` says that all have the same data, membership and models; without it limits are
    those of independent sweeps, and records are not matched. Raises ValueError when a matrix cannot
    carry an audit.
    """
    rows: list[Row] = []
    reference: _Reference | None = None
    for subject in subjects:
        result = audit(subject.matrix, subject.settings)
        alphas = result.evaluation.alphas
        this = _Reference(
            judge(subject.matrix, alphas),
            exposures(subject.matrix, alphas),
            subject.matrix.test_accuracy.astype(float),
            subject.matrix.seconds,
        )
        reference = reference or this
        rows.append(_row(subject, result, this, reference, is_paired))
    return Comparison(rows, is_paired, num_exposed(subjects[0].matrix.num_records))


def _row(
    subject: Subject, result: AuditResult, this: _Reference, reference: _Reference, is_paired: bool
) -> Row:
    levels = [
        _level(i, alpha, result, this, reference, is_paired)
        for i, alpha in enumerate(result.evaluation.alphas)
    ]
    difference = (nan, nan, nan)
    if is_paired and this is not reference:
        difference = mean_difference(this.test_accuracy, reference.test_accuracy)
    return Row(
        label=subject.label,
        attacker=subject.attacker,
        result=result,
        levels=levels,
        test_accuracy=mean_with_limits(this.test_accuracy),
        train_accuracy=float(result.train_accuracy.mean(dtype=float)),
        accuracy_difference=difference,
        seconds=this.seconds,
        cost=this.seconds / reference.seconds if reference.seconds > 0 else nan,
    )


def _level(
    i: int,
    alpha: float,
    result: AuditResult,
    this: _Reference,
    reference: _Reference,
    is_paired: bool,
) -> Level:
    is_reference = this is reference
    pair = (alpha, this.judged[alpha], reference.judged[alpha])
    return Level(
        point=result.evaluation.point(HEADLINE, alpha),
        exact=result.evaluation.point(EXACT, alpha),
        paired=paired(*pair) if is_paired and not is_reference else None,
        unpaired=None if is_reference else unpaired(*pair),
        record_tpr=percentile(result.evaluation.records["tpr"][i]),
        exposed_tpr=this.exposed[alpha].tpr,
        overlap=overlap(reference.exposed[alpha], this.exposed[alpha])
        if is_paired or is_reference
        else nan,
    )
