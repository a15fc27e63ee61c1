"""From a score matrix to an audit: pure statistics, no training, no tracking.

Everything here reads one `ScoreMatrix` (members and scores, both [M models, N records]) and the
choices of `AuditSettings`, and returns one `AuditResult` that the report, the terminal and the
tracker show. Methods and their sources: arXiv 2605.25819 (post-processed evaluation),
arXiv 2510.09717 (PTDI), arXiv 2112.03570 (LiRA).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mia_audit.attacks import Attack, LiRA
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.convergence import (
    ConvergencePoint,
    convergence,
    convergence_of,
    doubling_sizes,
)
from mia_audit.stats.evaluation import Evaluation, OperatingPoint, evaluate
from mia_audit.stats.measured_epsilon import measured_epsilon
from mia_audit.stats.member_share import ShareEstimator, Subtraction
from mia_audit.stats.num_models import num_models_needed
from mia_audit.stats.population import NoiseEstimate, population_points
from mia_audit.stats.ptdi_audit import SelectionAudit, audit_selection
from mia_audit.stats.thresholds import standardise
from mia_audit.target import ExistingTarget, TargetResult, judge_target

FEWEST_FOR_EPSILON = 8  # half of them are shadows, half targets
HALF_WIDTH = 0.1  # of one record's interval, for which the table of models needed is made


@dataclass(frozen=True, eq=False)
class AuditSettings:
    """What an audit computes: levels, intervals, attack and selection."""

    attack: Attack
    alphas: Sequence[float] = (0.1, 0.01, 0.001)
    intervals: str = "clustered"
    design: str = "bernoulli"
    fraction: float = 0.5
    seed: int = 0
    population_correction: bool = False
    noise: NoiseEstimate | None = None  # for the population correction; None: no noise
    claimed_epsilon: float | None = None
    claimed_delta: float = 0.0
    selection_alpha: float = 0.1
    estimator: ShareEstimator = field(default_factory=Subtraction)
    member_share: float = 0.5
    selection_target: int = 0


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Everything an audit found.

    `models_needed` has rows `{alpha, half_width, num_models}`; `epsilon_measured` is a lower
    bound (nan where the design allows none); accuracies are nan for scores from elsewhere.
    """

    evaluation: Evaluation
    selection: SelectionAudit | None
    target: TargetResult | None
    convergence: list[ConvergencePoint]
    population: list[OperatingPoint]
    train_accuracy: np.ndarray
    test_accuracy: np.ndarray
    epsilon_measured: float
    epsilon_claimed: float | None
    models_needed: list[dict[str, float]]
    record_ids: np.ndarray
    estimator: str  # of the member share, by which `selection` was made
    noise: NoiseEstimate | None = None  # by which `population` was made
    warnings: tuple[str, ...] = ()  # sentences on what to mind before reading any number

    @property
    def refutes_claim(self) -> bool:
        """Whether the measured ε stands above the one that the defence claims."""
        return self.epsilon_claimed is not None and self.epsilon_measured > self.epsilon_claimed


def audit(
    matrix: ScoreMatrix, settings: AuditSettings, target: ExistingTarget | None = None
) -> AuditResult:
    """Evaluate every model of `matrix` as a target, and `target` against them if given.

    Raises ValueError when the matrix cannot carry an audit (see `evaluate`).
    """
    scores, members = matrix.scores, matrix.members
    selection, unselected = _select(matrix, settings)
    evaluation = evaluate(
        scores,
        members,
        statistic=_statistic(matrix, settings.attack),
        alphas=tuple(settings.alphas),
        intervals=settings.intervals,
    )
    fewer = doubling_sizes(len(scores))[:-1]
    return AuditResult(
        evaluation=evaluation,
        selection=selection,
        target=None if target is None else judge_target(target, matrix, settings),
        convergence=[
            *convergence(scores, members, alphas=tuple(settings.alphas), sizes=fewer),
            *convergence_of(evaluation),
        ],
        population=_population(matrix, settings),
        train_accuracy=matrix.train_accuracy,
        test_accuracy=matrix.test_accuracy,
        epsilon_measured=_measured_epsilon(matrix, settings),
        epsilon_claimed=settings.claimed_epsilon,
        models_needed=_models_needed(evaluation, settings.alphas),
        record_ids=matrix.record_ids,
        estimator=settings.estimator.name,
        noise=settings.noise,
        warnings=(*_balance_warning(members), *unselected),
    )


def _statistic(matrix: ScoreMatrix, attack: Attack) -> np.ndarray | None:
    """The chosen attack's output; plain LiRA is in every table already, as `naive`."""
    return None if attack == LiRA() else attack.statistic(matrix.scores, matrix.members)


def _select(
    matrix: ScoreMatrix, settings: AuditSettings
) -> tuple[SelectionAudit | None, tuple[str, ...]]:
    """PTDI on every target, on the post-processed scores that the headline uses.

    None, and a sentence, where the named model has too few non-members to calibrate on: the rest
    of the audit is sound without it.
    """
    try:
        found = audit_selection(
            standardise(matrix.scores, matrix.members, dtype=matrix.scores.dtype),
            matrix.members,
            alpha=settings.selection_alpha,
            estimator=settings.estimator,
            member_share=settings.member_share,
            target=settings.selection_target,
            seed=settings.seed,
        )
    except ValueError as error:
        return None, (f"No set of records was selected. {error}",)
    return found, ()


def _balance_warning(members: np.ndarray) -> tuple[str, ...]:
    """In balanced designs leave-one-out gives members and non-members different nulls."""
    counts = members.sum(axis=0)
    if counts.min() != counts.max():
        return ()
    return (
        f"Every record is in exactly {counts[0]} of the {len(members)} models. Leave-one-out then "
        "treats members and non-members differently, and the empirical rows read too low with few "
        "models: with 16, pure noise gives 0.7% at a false-positive rate of 1%. The exact "
        "Student-t row allows for it, and design=bernoulli avoids it.",
    )


def _population(matrix: ScoreMatrix, settings: AuditSettings) -> list[OperatingPoint]:
    if not settings.population_correction:
        return []
    noise = settings.noise
    return population_points(
        matrix.scores,
        matrix.members,
        alphas=settings.alphas,
        num_train=float(matrix.members.sum(axis=1).mean()),
        noise_share=(0.0, 0.0) if noise is None else (noise.inside, noise.outside),
    )


def _measured_epsilon(matrix: ScoreMatrix, settings: AuditSettings) -> float:
    """Only Bernoulli rows are independent coins, which the bound needs (arXiv 2305.08846)."""
    if settings.design != "bernoulli" or matrix.num_models < FEWEST_FOR_EPSILON:
        return float("nan")
    return measured_epsilon(
        matrix.scores,
        matrix.members,
        alpha=max(settings.alphas),
        delta=settings.claimed_delta,
        fraction=settings.fraction,
    )


def _models_needed(evaluation: Evaluation, alphas: Sequence[float]) -> list[dict[str, float]]:
    """How many models an estimate of one record's TPR asks for, at the TPR seen here."""
    rows = []
    for alpha in alphas:
        tpr = evaluation.point("post_empirical", alpha).tpr
        fewest = num_models_needed(alpha)
        rows.append({"alpha": alpha, "half_width": float("nan"), "num_models": fewest})
        if 0 < tpr < 1:
            needed = num_models_needed(alpha, tpr=tpr, half_width=HALF_WIDTH)
            rows.append({"alpha": alpha, "half_width": HALF_WIDTH, "num_models": needed})
    return rows
