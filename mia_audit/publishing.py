"""Show an audit: one MLflow run, the report beside it, the table on the terminal."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from mia_audit import tracking
from mia_audit.audit import AuditResult
from mia_audit.audit_run import Provenance, context_of, log_audit
from mia_audit.preparation import REPORT
from mia_audit.report import draw_figures, render_report
from mia_audit.schema import AuditConfig, Composed
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.terminal import print_audit


def publish(
    result: AuditResult,
    matrix: ScoreMatrix,
    provenance: Provenance,
    composed: Composed[AuditConfig],
    console: Console,
    *,
    design: str,
) -> None:
    """Write the report, log the run, print the table.

    Report and table come out whatever happens to the run, so that nothing computed is lost;
    then TrackingError is raised.
    """
    context = context_of(provenance, composed, matrix, design)
    figures = draw_figures(result, context)
    report = render_report(result, context, figures)
    REPORT.write_text(report, encoding="utf-8")
    try:
        link = log_audit(
            result, matrix, provenance, composed, report, figures, started=composed.started
        )
        context = replace(context, run_link=_where(link))
    finally:
        print_audit(console, result, context)


def _where(link: tracking.RunLink) -> str:
    return f"{link.url} (start '{link.command}' first)" if link.command else link.url
