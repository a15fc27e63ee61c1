"""A comparison as MLflow runs: one child an audit, and the parent with table, figures and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mia_audit import tracking
from mia_audit.audit_run import DESCRIPTION, Provenance, context_of, log_audit
from mia_audit.compare.comparison import Comparison, Row
from mia_audit.compare.planning import Planned
from mia_audit.compare.table import table_csv, table_rows
from mia_audit.compare.words import finding
from mia_audit.report import ReportContext, draw_figures, render_report
from mia_audit.schema import CompareConfig, Composed
from mia_audit.score_matrix import ScoreMatrix

Files = dict[str, Path | bytes | str]


def provenance_of(planned: Planned, matrix: ScoreMatrix) -> Provenance:
    """Where one defence's scores came from, under the defence's label."""
    return replace(Provenance.of(planned.prepared, matrix), defence=planned.label)


def child_context(planned: Planned, matrix: ScoreMatrix) -> ReportContext:
    """What the page of one defence's audit says beside its numbers."""
    provenance, design = provenance_of(planned, matrix), planned.prepared.audit.design
    return context_of(provenance, planned.entry.composed, matrix, design)


def log_child(
    planned: Planned, matrix: ScoreMatrix, provenance: Provenance, row: Row, *, started: float
) -> tracking.RunLink:
    """Log one defence's audit as `jobs.audit` would, with its label and attacker."""
    composed, result = planned.entry.composed, row.result
    context = child_context(planned, matrix)
    figures = draw_figures(result, context)
    report = render_report(result, context, figures)
    tags = {"attacker": row.attacker}
    return log_audit(
        result, matrix, provenance, composed, report, figures, tags=tags, started=started
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
