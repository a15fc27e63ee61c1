"""What the jobs do, in order: check, train what is missing, judge, log, show."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace

from rich.console import Console

from mia_audit import tracking
from mia_audit.audit import AuditSettings, audit
from mia_audit.audit_run import Provenance
from mia_audit.live import LiveProgress
from mia_audit.preparation import (
    TRAINING_KEYS,
    Prepared,
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
from mia_audit.training import describe_plan, start_workers, train_missing, train_noise

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
    """Fill the store with what `composed` asks for; 1 when models are missing afterwards."""
    console, config = Console(), composed.settings
    prepared = prepare(config)
    describe_plan(prepared, console)
    if config.dry_run:
        return DONE
    start_workers(prepared, config.cluster)
    matrix = train_missing(prepared, config.cluster, console)
    if matrix.missing or any(one.missing for one in train_noise(prepared, config.cluster, console)):
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
    """None after a dry run. Ray and the tracking database, both slow, start side by side."""
    config = composed.settings
    tracking.check(config.tracking)
    prepared = prepare(config)
    describe_plan(prepared, console)
    if config.dry_run:
        return None
    with ThreadPoolExecutor(1) as background:
        tracked = background.submit(tracking.prepare, config.tracking)
        start_workers(prepared, config.cluster)
        ready = tracked.result()
    run = _live_run(prepared, composed, ready)
    progress = LiveProgress(console, run) if run else Progress(console)
    with run or nullcontext():
        matrix = train_missing(prepared, config.cluster, console, progress)
        complete, settings = not matrix.missing, prepared.audit
        if complete and prepared.noise is not None:
            further = train_noise(prepared, config.cluster, console)
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


def _live_run(
    prepared: Prepared, composed: Composed[AuditConfig], ready: tracking.Ready
) -> tracking.LiveRun | None:
    """The audit's run, open while models are trained; None where none is missing."""
    plan = prepared.plan
    if not prepared.store.missing(plan):
        tracking.end_left_over(composed.settings.tracking, ready, plan.key)
        return None
    names = {"defence": plan.defence.name, "model": plan.model.name, "dataset": plan.dataset.name}
    tags = {"kind": "audit", **names}
    return tracking.LiveRun(
        composed.settings.tracking,
        ready,
        name=" ".join(names.values()),
        tags=tags,
        key=plan.key,
        started=composed.started,
    )
