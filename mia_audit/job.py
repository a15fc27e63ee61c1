"""What the jobs do, in order: check, train what is missing, judge, log, show."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace

from rich.console import Console

from mia_audit import tracking
from mia_audit.audit import AuditSettings, audit
from mia_audit.audit_run import Provenance
from mia_audit.live import open_run, progress_of
from mia_audit.preparation import (
    TRAINING_KEYS,
    external,
    external_settings,
    external_target,
    prepare,
)
from mia_audit.progress import Progress
from mia_audit.publishing import publish
from mia_audit.schema import AuditConfig, Composed
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.target import ExistingTarget
from mia_audit.training import describe_plan, start_all, start_workers, train_missing, train_noise

DONE, FAULT, REFUTED = 0, 1, 3


@dataclass(frozen=True, eq=False)
class Judged:
    """What an audit reads: a matrix, a target to judge beside it, and the choices.

    Not `complete` where models are missing that should have been trained.
    """

    matrix: ScoreMatrix
    target: ExistingTarget | None
    settings: AuditSettings
    provenance: Provenance
    complete: bool = True
    run: tracking.LiveRun | None = None


def run_training(composed: Composed[AuditConfig]) -> int:
    """Fill the store with what `composed` asks for; 1 when models are missing afterwards.

    Tracking has no part in it: an audit logs the run.
    """
    console, config = Console(), composed.settings
    prepared = prepare(config)
    describe_plan(prepared, config.cluster, console)
    if config.dry_run:
        return DONE
    start_workers(prepared, config.cluster)
    progress = Progress(console)
    matrix = train_missing(prepared, config.cluster, progress)
    further = () if matrix.missing else train_noise(prepared, config.cluster, progress)
    if any(one.missing for one in (matrix, *further)):
        return FAULT
    console.print(f"all {matrix.num_models:,} models are in {prepared.store.label}")
    return DONE


def run_audit(composed: Composed[AuditConfig]) -> int:
    """The main job; `conf/audit.yaml` says what its keys are.

    Returns 0, 1 when models are missing after retries, 3 when the measured ε refutes the
    defence's claim. Raises ValueError for the user's mistakes, before any training.
    """
    console = Console()
    judged = _external(composed) if composed.settings.scores else _trained(composed, console)
    if judged is None:
        return DONE
    with judged.run or nullcontext():
        return _judge(judged, composed, console)


def _judge(judged: Judged, composed: Composed[AuditConfig], console: Console) -> int:
    if not judged.complete:
        return FAULT
    result = audit(judged.matrix, judged.settings, judged.target)
    try:
        publish(
            result,
            judged.matrix,
            judged.provenance,
            _shown(composed),
            console,
            design=judged.settings.design,
        )
    except tracking.TrackingError as error:
        print(error, file=sys.stderr)
        return FAULT
    return REFUTED if result.refutes_claim else DONE


def _shown(composed: Composed[AuditConfig]) -> Composed[AuditConfig]:
    """Scores from elsewhere were not made with the settings of a sweep: do not record them."""
    if composed.settings.scores is None:
        return composed
    return composed.without({*TRAINING_KEYS, "cluster", "store", "fraction", "design"})


def _external(composed: Composed[AuditConfig]) -> Judged:
    config = composed.settings
    matrix, notes = external(config, composed.given)
    settings = external_settings(config, composed.given, matrix)
    target = external_target(config, matrix)
    tracking.prepare(config.tracking)
    return Judged(matrix, target, settings, Provenance.external(config, notes))


def _trained(composed: Composed[AuditConfig], console: Console) -> Judged | None:
    """None after a dry run."""
    config = composed.settings
    tracking.check(config.tracking)
    prepared = prepare(config)
    describe_plan(prepared, config.cluster, console)
    if config.dry_run:
        return None
    ready = start_all([prepared], config)
    run = open_run(
        prepared, config.tracking, ready,
        kind="audit", defence=prepared.plan.defence.name, started=composed.started,
    )  # fmt: skip
    progress = progress_of(run, console)
    with run or nullcontext():
        matrix = train_missing(prepared, config.cluster, progress)
        complete, settings = not matrix.missing, prepared.audit
        if complete and prepared.noise is not None:
            further = train_noise(prepared, config.cluster, progress)
            complete = not any(one.missing for one in further)
            if complete:
                settings = replace(settings, noise=prepared.noise.estimate(matrix, further))
    if run and not complete:
        run.fail()
    provenance = replace(
        Provenance.of(prepared, matrix),
        sweep_log=progress.log.text,
        run_id=run.run_id if run else "",
    )
    return Judged(matrix, prepared.target, settings, provenance, complete, run)
