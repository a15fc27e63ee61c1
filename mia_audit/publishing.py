"""Show an audit: one MLflow run, the report beside it, the table on the terminal."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from mia_audit import run_content, tracking
from mia_audit.audit import AuditResult
from mia_audit.preparation import Prepared
from mia_audit.report import ReportContext, draw_figures, render_report
from mia_audit.report.sentences import headline
from mia_audit.schema import AuditConfig, Composed
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.terminal import print_audit

REPORT = Path("mia_report.html")
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


def publish(
    result: AuditResult,
    matrix: ScoreMatrix,
    provenance: Provenance,
    composed: Composed[AuditConfig],
    console: Console,
) -> None:
    """Write the report, log the run, print the table. The report is written whatever happens to
    the run, so that nothing computed is lost."""
    context = _context(provenance, composed, matrix)
    figures = draw_figures(result, context)
    report = render_report(result, context, figures)
    REPORT.write_text(report, encoding="utf-8")
    link = _log(result, matrix, provenance, composed, report, figures)
    print_audit(console, result, replace(context, run_link=_where(link)))


def _context(
    provenance: Provenance, composed: Composed[AuditConfig], matrix: ScoreMatrix
) -> ReportContext:
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
        design=config.design.value,
        notes=provenance.notes,
        profile={name: str(value) for name, value in provenance.profile.items()},
        config_yaml=composed.yaml,
        store_key=provenance.store_key,
        devices=provenance.devices,
        seconds=provenance.seconds,
        versions=_versions(),
        report_path=str(REPORT),
        command=composed.command,
    )


def _versions() -> dict[str, str]:
    pairs = tracking.environment()["versions"].split(", ")
    return dict(pair.split(" ", 1) for pair in pairs)


def _log(
    result: AuditResult,
    matrix: ScoreMatrix,
    provenance: Provenance,
    composed: Composed[AuditConfig],
    report: str,
    figures: dict[str, bytes],
) -> tracking.RunLink:
    files: dict[str, Path | bytes | str] = {
        "config.yaml": composed.yaml,
        "report.html": report,
        "records.parquet": run_content.records_parquet(result),
        **{f"figures/{name}.png": picture for name, picture in figures.items()},
    }
    if result.selection is not None:
        files["selection.json"] = json.dumps(run_content.selection(result), indent=1)
    return tracking.log_run(
        composed.settings.tracking,
        name=f"{provenance.defence} {provenance.model} {provenance.dataset}",
        params=composed.values,
        metrics=run_content.metrics(result),
        step_metrics=run_content.step_metrics(result),
        tags=_tags(provenance) | {DESCRIPTION: str(headline(result.evaluation.points))},
        tables=run_content.tables(result),
        files=files,
        arrays=run_content.arrays(matrix),
        dataset=_dataset(provenance),
        store_url=provenance.store,
        started=composed.started,
    )


def _tags(provenance: Provenance) -> dict[str, str]:
    return {
        "kind": "audit",
        "dataset": provenance.dataset,
        "model": provenance.model,
        "defence": provenance.defence,
        "store_key": provenance.store_key,
        "devices": ", ".join(provenance.devices),
        **tracking.environment(),
    }


def _dataset(provenance: Provenance) -> tracking.DatasetInput:
    return tracking.DatasetInput(
        provenance.dataset, provenance.digest, dict(provenance.profile), source=provenance.dataset
    )


def _where(link: tracking.RunLink) -> str:
    return f"{link.url} (start '{link.command}' first)" if link.command else link.url
