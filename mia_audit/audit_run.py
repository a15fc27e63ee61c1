"""One audit as one MLflow run, whether it stands alone or below a comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mia_audit import run_content, tracking
from mia_audit.audit import AuditResult
from mia_audit.preparation import REPORT, Prepared
from mia_audit.report import ReportContext
from mia_audit.report.sentences import headline
from mia_audit.schema import AuditConfig, Composed
from mia_audit.score_matrix import ScoreMatrix

DESCRIPTION = "mlflow.note.content"  # MLflow shows this tag as the run's description


@dataclass(frozen=True)
class Provenance:
    """Where the scores came from, as names to tag and show."""

    dataset: str
    model: str
    defence: str
    store_key: str
    digest: str = ""
    store: str = ""
    notes: tuple[str, ...] = ()
    profile: dict[str, object] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    seconds: float = math.nan
    sweep_log: str = ""  # JSON lines, of what was trained now
    run_id: str = ""  # of the run that is open already

    @classmethod
    def of(cls, prepared: Prepared, matrix: ScoreMatrix) -> Provenance:
        plan = prepared.plan
        return cls(
            dataset=plan.dataset.name,
            model=plan.model.name,
            defence=plan.defence.name,
            store_key=plan.key,
            digest=plan.dataset.digest,
            store=prepared.store.label,
            notes=plan.dataset.notes,
            profile=plan.dataset.profile(),
            devices=matrix.devices,
            seconds=matrix.seconds,
        )

    @classmethod
    def external(cls, config: AuditConfig, notes: tuple[str, ...]) -> Provenance:
        read = f"Scores and membership were read from {config.scores} as they are."
        return cls("external", "external", "external", "external", notes=(read, *notes))


def _in_words(fact: object) -> str:
    """A fact about the data as the page shows it: counts by name, numbers with separators."""
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {_in_words(count)}" for name, count in fact.items())
    return f"{fact:,}" if isinstance(fact, int) else str(fact)


def context_of(
    provenance: Provenance, composed: Composed[AuditConfig], matrix: ScoreMatrix, design: str
) -> ReportContext:
    """What the page of an audit says beside its numbers."""
    config = composed.settings
    return ReportContext(
        title=f"Membership audit of {provenance.model} on {provenance.dataset}",
        dataset=provenance.dataset,
        model=provenance.model,
        defence=provenance.defence,
        attack=config.attack.name,
        num_models=matrix.num_models,
        num_records=matrix.num_records,
        seed=config.seed,
        design=design,
        notes=provenance.notes,
        profile={name: _in_words(value) for name, value in provenance.profile.items()},
        config_yaml=composed.yaml,
        store_key=provenance.store_key,
        devices=provenance.devices,
        seconds=provenance.seconds,
        versions=_versions(),
        report_path=str(REPORT),
        command=composed.command,
    )


def log_audit(
    result: AuditResult,
    matrix: ScoreMatrix,
    provenance: Provenance,
    composed: Composed[AuditConfig],
    report: str,
    figures: Mapping[str, bytes],
    *,
    tags: Mapping[str, str] | None = None,
    started: float,
) -> tracking.RunLink:
    """Log all that an audit found; `tags` join the run's own. Raises TrackingError."""
    files: dict[str, Path | bytes | str] = {
        "config.yaml": composed.yaml,
        "report.html": report,
        "records.parquet": run_content.records_parquet(result),
        **{f"figures/{name}.png": picture for name, picture in figures.items()},
    }
    if provenance.sweep_log:
        files["sweep.jsonl"] = provenance.sweep_log
    for name, content in run_content.selections(result).items():
        files[name] = json.dumps(content, indent=1, allow_nan=False)
    cost = {"seconds": provenance.seconds} if math.isfinite(provenance.seconds) else {}
    return tracking.log_run(
        composed.settings.tracking,
        name=f"{provenance.defence} {provenance.model} {provenance.dataset}",
        params=composed.values,
        metrics=run_content.metrics(result) | cost,
        step_metrics=run_content.step_metrics(result),
        tags=_tags(provenance, result) | dict(tags or {}),
        tables=run_content.tables(result),
        files=files,
        arrays=run_content.arrays(matrix),
        dataset=_dataset(provenance),
        store_url=provenance.store,
        started=started,
        run_id=provenance.run_id,
    )


def _versions() -> dict[str, str]:
    pairs = tracking.environment()["versions"].split(", ")
    return dict(pair.split(" ", 1) for pair in pairs)


def _tags(provenance: Provenance, result: AuditResult) -> dict[str, str]:
    return {
        DESCRIPTION: str(headline(result.evaluation.points)),
        "kind": "audit",
        "dataset": provenance.dataset,
        "model": provenance.model,
        "defence": provenance.defence,
        "store_key": provenance.store_key,
        "devices": ", ".join(provenance.devices),
        "data_digest": provenance.digest,
        **tracking.environment(),
    }


def _dataset(provenance: Provenance) -> tracking.DatasetInput:
    return tracking.DatasetInput(
        provenance.dataset, provenance.digest, dict(provenance.profile), source=provenance.dataset
    )
