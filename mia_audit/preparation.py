"""Checks before any work: from a configuration to a plan, a store and settings, or one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from mia_audit.attacks import Attack
from mia_audit.audit import AuditSettings
from mia_audit.data import draw_pool
from mia_audit.external import read_matrices, read_target
from mia_audit.noise import NoiseSource, Origin
from mia_audit.plan import Plan, plan_sweep
from mia_audit.schema import AuditConfig
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.store import Store
from mia_audit.target import ExistingTarget

REPORT = Path("mia_report.html")
FEWEST_MODELS = 6
FEWEST_FOR_NOISE = 8
# What scores from elsewhere have settled already.
TRAINING_KEYS = (
    "dataset", "model", "defence", "num_models", "num_records", "experiment", "population",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Prepared:
    """A sweep that can start: every check of the user's input has passed."""

    plan: Plan
    store: Store
    target: ExistingTarget | None
    audit: AuditSettings
    noise: NoiseSource | None = None  # of the population correction
    noise_plans: tuple[Plan, ...] = ()  # further models that it needs


def prepare(config: AuditConfig) -> Prepared:
    """Load the data, draw the pool, plan the sweep, open the store, read the target.

    Raises ValueError with one sentence naming the key for anything that cannot work.
    """
    _check_num_models(config.num_models)
    settings = audit_settings(config)
    config.cluster.check()
    check_report_path()
    check_selection_target(config, config.num_models)
    noise = noise_source(config)
    origin = Origin(config.dataset.load(), config.seed, config.dataset.balanced)
    pool = draw_pool(origin.dataset, config.num_records, seed=origin.seed, balanced=origin.balanced)
    plan = plan_sweep(
        pool,
        config.model,
        config.defence,
        num_models=config.num_models,
        design=config.design.value,
        fraction=config.fraction,
        seed=config.seed,
    )
    store = Store(config.store)
    store.check_writable()
    settings = replace(
        settings,
        claimed_epsilon=config.defence.claimed_epsilon(config.model, num_train=plan.num_train),
        claimed_delta=getattr(config.defence, "delta", 0.0),
    )
    further = () if noise is None else noise.plans(plan, origin)
    return Prepared(plan, store, _target(config, len(pool.y)), settings, noise, further)


def external(config: AuditConfig, given: Sequence[str]) -> tuple[ScoreMatrix, tuple[str, ...]]:
    """The score matrix named by `scores=` and notes on how it was understood.

    Raises ValueError for keys that only training would use, and for matrices that cannot be read.
    """
    assert config.scores is not None
    check_report_path()
    for group in TRAINING_KEYS:
        if any(key == group or key.startswith(f"{group}.") for key in given):
            raise ValueError(
                f"{group}: cannot be combined with scores={config.scores}, which are audited as"
                f" they are; leave {group} out."
            )
    found = read_matrices(config.scores)
    num_models, num_records = found.scores.shape
    check_selection_target(config, num_models)
    unknown = np.full(num_models, np.nan, dtype=np.float32)
    matrix = ScoreMatrix(found.scores, found.members, np.arange(num_records), unknown, unknown)
    return matrix, found.notes


def external_settings(
    config: AuditConfig, given: Sequence[str], matrix: ScoreMatrix
) -> AuditSettings:
    """The statistical choices for a matrix from elsewhere.

    Its design is known only where the user states it; ε is measured under a stated Bernoulli
    design alone. Raises ValueError when the stated fraction is not the matrix's.
    """
    settings = audit_settings(config)
    if "design" not in given:
        return replace(settings, design="unknown")
    share, entries = matrix.members.mean(), matrix.members.size
    sd = np.sqrt(config.fraction * (1 - config.fraction) / entries)
    if abs(share - config.fraction) > 5 * sd:
        raise ValueError(
            f"fraction={config.fraction:g}: {share:.1%} of the entries in {config.scores} are"
            f" members; state fraction={share:.3g} if that is the design."
        )
    return settings


def check_report_path() -> None:
    """Raise ValueError when the report could not be written to the current folder."""
    if REPORT.is_dir():
        raise ValueError(f"{REPORT} is a folder: move it away, the report is written there.")
    try:
        with NamedTemporaryFile(dir=".", prefix=".mia_audit-"):
            return
    except OSError as error:
        raise ValueError(
            f"the current folder cannot be written ({(error.strerror or '').lower()}): change to"
            " one that can, the report is written there."
        ) from error


def _check_num_models(num_models: int) -> None:
    """An audit needs a target beside two models in and two out."""
    if num_models < FEWEST_MODELS:
        raise ValueError(
            f"num_models={num_models}: an audit needs at least {FEWEST_MODELS}, so that each model"
            " can be judged by two others trained with a record and two without; take 64 or more."
        )


def _check_attack(attack: Attack) -> None:
    """Let the attack run on a toy matrix, so that its settings fail before any training."""
    members = np.indices((6, 2)).sum(axis=0) % 2 == 0
    try:
        attack.statistic(members + np.linspace(0, 1, 12).reshape(6, 2), members)
    except ValueError as error:
        raise ValueError(f"attack.{error}") from error


def external_target(config: AuditConfig, matrix: ScoreMatrix) -> ExistingTarget | None:
    """The existing target beside an external matrix, if one is named."""
    return _target(config, matrix.scores.shape[1])


def audit_settings(config: AuditConfig) -> AuditSettings:
    """The statistical choices, checked."""
    _check_levels("alphas", config.alphas)
    _check_levels("selection.alpha", [config.selection.alpha])
    _check_levels("selection.member_share", [config.selection.member_share])
    _check_levels("fraction", [config.fraction])
    if not 0 < config.selection.eta <= 0.5:
        raise ValueError(f"selection.eta={config.selection.eta}: must lie in (0, 0.5].")
    _check_attack(config.attack)
    return AuditSettings(
        attack=config.attack,
        alphas=tuple(sorted(set(config.alphas), reverse=True)),
        intervals=config.intervals.value,
        design=config.design.value,
        fraction=config.fraction,
        seed=config.seed,
        population_correction=config.population_correction,
        selection_alpha=config.selection.alpha,
        estimator=config.selection.share_estimator(),
        member_share=config.selection.member_share,
        selection_target=config.selection.target,
    )


def noise_source(config: AuditConfig) -> NoiseSource | None:
    """How the share of training noise is measured, None where it counts as zero.

    Raises ValueError when nothing would use it, or for too few models.
    """
    source, models = config.population.noise_source(), config.population.models
    if source is None:
        return None
    if not config.population_correction:
        raise ValueError(
            f"population.noise={config.population.noise.value}: is for the population correction;"
            " add population_correction=true."
        )
    if models < FEWEST_FOR_NOISE:
        raise ValueError(f"population.models={models}: take {FEWEST_FOR_NOISE} or more.")
    return source


def check_selection_target(config: AuditConfig, num_models: int) -> None:
    if not 0 <= config.selection.target < num_models:
        raise ValueError(
            f"selection.target={config.selection.target}: there are {num_models} models,"
            f" numbered 0 to {num_models - 1}."
        )


def _check_levels(key: str, levels: Sequence[float]) -> None:
    if not levels:
        raise ValueError(f"{key}: give at least one level, for example {key}=[0.01].")
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"{key}={level:g}: must lie strictly between 0 and 1.")


def _target(config: AuditConfig, num_records: int) -> ExistingTarget | None:
    scores_path, members_path = config.target.scores, config.target.members
    if scores_path is None and members_path is None:
        return None
    if scores_path is None or members_path is None:
        missing = "target.scores" if scores_path is None else "target.members"
        raise ValueError(f"{missing}: give both target.scores and target.members, or neither.")
    scores, members = read_target(
        scores_path, members_path, num_records=num_records, scale=config.target.scale
    )
    return ExistingTarget(scores, members)
