"""A comparison as MLflow runs: one child an audit, and the parent with table, figures and page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mia_audit import run_content, tracking
from mia_audit.audit import AuditResult
from mia_audit.compare.comparison import Comparison
from mia_audit.compare.planning import Planned
from mia_audit.compare.table import table_csv, table_rows
from mia_audit.compare.words import finding
from mia_audit.publishing import DESCRIPTION, Provenance, _context, _dataset, _tags
from mia_audit.report import ReportContext, draw_figures, render_report
from mia_audit.report.sentences import headline
from mia_audit.schema import CompareConfig, Composed
from mia_audit.score_matrix import ScoreMatrix

Files = dict[str, Path | bytes | str]


def provenance_of(planned: Planned, matrix: ScoreMatrix) -> Provenance:
    """Where one defence's scores came from, under the defence's label."""
    return replace(Provenance.of(planned.prepared, matrix), defence=planned.label)


def context_of(planned: Planned, matrix: ScoreMatrix) -> ReportContext:
    """What the page of one defence's audit says beside its numbers."""
    return _context(provenance_of(planned, matrix), planned.entry.composed, matrix)


def log_audit(
    planned: Planned, matrix: ScoreMatrix, result: AuditResult, *, attacker: str, started: float
) -> tracking.RunLink:
    """Log one defence's audit as `jobs.audit` would, with its label, attacker and cost."""
    composed, provenance = planned.entry.composed, provenance_of(planned, matrix)
    context = context_of(planned, matrix)
    figures = draw_figures(result, context)
    files: Files = {
        "config.yaml": composed.yaml,
        "report.html": render_report(result, context, figures),
        "records.parquet": run_content.records_parquet(result),
        **{f"figures/{name}.png": picture for name, picture in figures.items()},
    }
    tables = run_content.tables(result)
    if result.selection is not None:
        files["selection.json"] = json.dumps(run_content.selection(result), indent=1)
    return tracking.log_run(
        composed.settings.tracking,
        name=f"{planned.label} {provenance.model} {provenance.dataset}",
        params=composed.values,
        metrics=run_content.metrics(result) | {"seconds": matrix.seconds},
        step_metrics=run_content.step_metrics(result),
        tags=_tags(provenance)
        | {
            DESCRIPTION: str(headline(result.evaluation.points)),
            "attacker": attacker,
            "data_digest": provenance.digest,
        },
        tables=tables,
        files=files,
        arrays=run_content.arrays(matrix),
        dataset=_dataset(provenance),
        store_url=provenance.store,
        started=started,
    )


def log_comparison(
    comparison: Comparison,
    composed: Composed[CompareConfig],
    context: ReportContext,
    report: str,
    figures: dict[str, bytes],
    *,
    compared: Sequence[str],
    adopted: Sequence[str],
) -> tracking.RunLink:
    """Log the parent run; `compared` are the ids of the audits' runs, of which it adopts
    `adopted` as children."""
    files: Files = {
        "comparison.csv": table_csv(comparison),
        "config.yaml": composed.yaml,
        "report.html": report,
        **{f"figures/{name}.png": picture for name, picture in figures.items()},
    }
    link = tracking.log_run(
        composed.settings.tracking,
        name=f"compare {context.model} {context.dataset}",
        params=composed.values,
        metrics={"num_defences": float(len(comparison.rows))},
        step_metrics=_series(comparison),
        tags={
            "kind": "compare",
            "dataset": context.dataset,
            "model": context.model,
            "defence": ", ".join(row.label for row in comparison.rows),
            "compared_runs": ", ".join(compared),
            DESCRIPTION: finding(comparison),
            **tracking.environment(),
        },
        tables={"comparison.json": table_rows(comparison)},
        files=files,
        started=composed.started,
    )
    tracking.adopt(composed.settings.tracking, link.run_id, adopted)
    return link


def _series(comparison: Comparison) -> dict[str, list[float]]:
    """One step a row, in the order of the table: labels have no place in metric names."""
    rows = comparison.rows
    series = {
        "test_accuracy": [row.test_accuracy[0] for row in rows],
        "auc": [row.result.evaluation.auc for row in rows],
    }
    for i, alpha in enumerate(comparison.alphas):
        series[f"tpr_at_fpr/{alpha:g}"] = [row.levels[i].point.tpr for row in rows]
    return series
