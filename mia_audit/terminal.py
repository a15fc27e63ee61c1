"""What an audit prints when it is done: one table, a few lines, one sentence.

Readable at 80 columns without a cut word, and plain text when the output is no terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mia_audit.report.context import ReportContext
from mia_audit.report.sentences import (
    accuracy_line,
    epsilon_line,
    headline,
    named_line,
    population_line,
    selection_line,
)
from mia_audit.report.tables import MAIN_METHODS, PointTable, Row, point_table
from mia_audit.report.views import warnings

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult

_READABLE_WIDTH = 100


def print_audit(console: Console, result: AuditResult, context: ReportContext) -> None:
    """Print the operating points, the models' accuracy, PTDI, and where everything lies."""
    table = point_table(result.evaluation.points, MAIN_METHODS, attack=context.attack)
    console.print()
    console.print(_title(context))
    console.print(_points(table))
    _print_notes(console, table)
    if result.target is not None:
        console.print(Text("The existing model", style="bold"))
        existing = point_table(result.target.points)
        console.print(_points(existing))
        _print_notes(console, existing)
        if result.target.selection is not None:
            line = named_line(result.target.selection, "the existing model")
            _print_wrapped(console, Text(f"{line}."))
        console.print()
    console.print(_facts(result, context))
    console.print()
    for warning in warnings(result):
        _print_wrapped(console, Text(f"! {warning}", style="yellow"), hang=2)
    _print_wrapped(console, Text(str(headline(result.evaluation.points)), style="bold"))
    _print_wrapped(
        console,
        Text("An average over records, not a bound: single records can be far more exposed, and "
             "the report shows which.", style="dim"),
    )  # fmt: skip


def _title(context: ReportContext) -> Text:
    size = f"{context.num_models:,} models, {context.num_records:,} records"
    parts = (context.dataset, context.model, f"defence {context.defence}", size)
    return Text(" · ".join(part for part in parts if part), style="bold")


def _points(table: PointTable) -> Table:
    """FPR is the level asked for, Achieved what the non-members bore; one section a level."""
    grid = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("FPR", no_wrap=True, justify="right")
    grid.add_column("Method", no_wrap=True)
    for name in ("Achieved", "TPR", "95% interval"):
        grid.add_column(name, no_wrap=True, justify="right")
    grid.add_column("Note", no_wrap=True)
    for group in table.groups:
        for i, row in enumerate(group.rows):
            last = i == len(group.rows) - 1
            grid.add_row(*_cells(row, group.level if i == 0 else ""), end_section=last,
                         style="bold" if row.is_headline else None)  # fmt: skip
        if group is not table.groups[-1]:
            grid.add_row()
    return grid


def _cells(row: Row, level: str) -> list[Text]:
    achieved = Text(row.achieved, style="yellow" if row.is_inflated else "")
    note = Text(f"({row.note})" if row.note else "", style="dim")
    plain = [Text(level), Text(row.label.title), achieved, Text(row.tpr), Text(row.range)]
    return [*plain, note]


def _print_notes(console: Console, table: PointTable) -> None:
    for i, note in enumerate(table.footnotes, start=1):
        _print_wrapped(console, Text(f"({i}) {note}", style="dim"), hang=len(f"({i}) "))
    console.print()


def _facts(result: AuditResult, context: ReportContext) -> Table:
    """Accuracy, privacy bound, PTDI and addresses; a long address is folded, never cut."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    lines = {
        "Accuracy": accuracy_line(result.train_accuracy, result.test_accuracy),
        "Normality": result.evaluation.normality.warning,
        "Epsilon": epsilon_line(result.epsilon_measured, result.epsilon_claimed),
        "Selection": "" if result.selection is None else selection_line(result.selection),
        "Population": population_line(result.population, result.noise),
        "Run": context.run_link,
        "Report": context.report_path,
    }
    for name, line in lines.items():
        if line:
            grid.add_row(name, Text(line))
    return grid


def _print_wrapped(console: Console, text: Text, hang: int = 0) -> None:
    """Wrap at a readable width; lines after the first are indented by `hang`."""
    width = min(console.width, _READABLE_WIDTH) - hang
    for i, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        console.print(Text(" " * hang if i else "").append_text(line))
