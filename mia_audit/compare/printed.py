"""What a comparison prints: the price of each defence, what it buys at each level, one sentence.

Readable at 80 columns without a cut word; a wide terminal shows the exact-t rule as well.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mia_audit.compare.comparison import Comparison, Row
from mia_audit.compare.words import (
    HIGHER,
    LOWER,
    attackers,
    cost,
    difference_cells,
    finding,
    lead_note,
    pairing_sentence,
    points,
    refutation,
    verdict,
)
from mia_audit.report.context import ReportContext
from mia_audit.report.words import decimals_at, interval, level, number, percent

_READABLE_WIDTH = 100
_WIDE = 110
_NAME_WIDTH = 16  # on a narrow terminal
_LONGEST_CHOICE = 20
_COLOURS = {LOWER: "green", HIGHER: "red"}


def print_comparison(console: Console, comparison: Comparison, context: ReportContext) -> None:
    """Print the tables, who attacks, and where everything lies."""
    console.print()
    console.print(_title(context))
    console.print()
    console.print(_prices(comparison, wide=console.width >= _WIDE))
    console.print()
    console.print(_rates(comparison, wide=console.width >= _WIDE))
    console.print()
    for note in _notes(comparison):
        _print_wrapped(console, Text(note, style="dim"))
    console.print()
    console.print(_facts(comparison, context))
    console.print()
    for row in comparison.refuted:
        _print_wrapped(console, Text(refutation(row), style="bold red"))
    _print_wrapped(console, Text(finding(comparison), style="bold"))


def _title(context: ReportContext) -> Text:
    size = f"{context.num_models:,} models a defence, {context.num_records:,} records"
    return Text(" · ".join(p for p in (context.dataset, context.model, size) if p), style="bold")


def _prices(comparison: Comparison, *, wide: bool) -> Table:
    """Utility, cost and privacy accounts, which belong to no level."""
    grid = _grid("Defence")
    for name in ("Test", "Gap", "AUC", "PTDI", "ε claim", "ε seen", "Cost"):
        grid.add_column(name, justify="right", no_wrap=True)
    if wide:
        grid.add_column("Test against none", justify="right", no_wrap=True)
    for row in comparison.rows:
        cells = [
            percent(row.test_accuracy[0], 1),
            points(row.gap, 1),
            f"{row.result.evaluation.auc:.3f}",
            percent(row.selection_power),
            number(row.epsilon_accountant),
            number(row.result.epsilon_measured, 2),
            cost(row),
        ]
        if wide:
            cells.append(points(row.accuracy_difference[0], 2))
        grid.add_row(_name(row, wide=wide), *cells, style="bold" if row.is_reference else None)
    return grid


def _rates(comparison: Comparison, *, wide: bool) -> Table:
    """One section a level: the TPR, and what of it is due to the defence."""
    grid = _grid("Defence")
    names = ["TPR", "95% interval", "To none", "95% interval", "Verdict"]
    for name in [*names, "Exact t", "at FPR"] if wide else names:
        grid.add_column(name, justify="left" if name == "Verdict" else "right", no_wrap=True)
    for alpha in comparison.alphas:
        grid.add_row(Text(f"At {level(alpha)} FPR", style="bold underline"))
        for row in comparison.rows:
            grid.add_row(*_cells(row, alpha, wide=wide), style="bold" if row.is_reference else None)
        if alpha != comparison.alphas[-1]:
            grid.add_row()
    return grid


def _cells(row: Row, alpha: float, *, wide: bool) -> list[Text]:
    found, places = row.level(alpha), decimals_at(alpha)
    word = verdict(found.difference)
    cells = [
        Text(_name(row, wide=wide)),
        Text(percent(found.point.tpr, places)),
        Text(interval(found.point.lower, found.point.upper, places)),
        *(Text(cell) for cell in difference_cells(found.difference, alpha)),
        Text(word, style=_COLOURS.get(word, "")),
    ]
    if wide:
        cells += [Text(percent(found.exact.tpr, places)), Text(percent(found.exact.fpr, places))]
    return cells


def _name(row: Row, *, wide: bool) -> str:
    """The label, on a narrow terminal with a line for each of its settings."""
    if wide or len(row.label) <= _NAME_WIDTH:
        return row.label
    choice, _, settings = row.label.rstrip(")").partition("(")
    lines = [choice, *filter(None, settings.split(", "))]
    if len(choice) > _LONGEST_CHOICE:
        lines[:1] = ["_".join(choice.split("_")[:-1]) + "_", choice.split("_")[-1]]
    return "\n  ".join(lines)


def _notes(comparison: Comparison) -> list[str]:
    notes = {note for row in comparison.rows for found in row.levels if (note := lead_note(found))}
    return [
        "TPR of the calibrated attack, every record at the same FPR. To none: difference of the "
        "TPR to that without a defence, in percentage points; the verdict says whether its "
        f"interval excludes 0. {pairing_sentence(comparison)}",
        "Gap: training less test accuracy. PTDI: members named at the false discovery rate asked "
        "for. ε seen: lower bound at 95% confidence. Cost: training time over that of none.",
        *(f"{note[0].upper()}{note[1:]}." for note in sorted(notes)),
    ]


def _facts(comparison: Comparison, context: ReportContext) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for i, (labels, sentence) in enumerate(attackers(comparison)):
        grid.add_row("Attacker" if i == 0 else "", Text(f"{labels}: {sentence}"))
    for name, line in (("Run", context.run_link), ("Report", context.report_path)):
        if line:
            grid.add_row(name, Text(line))
    return grid


def _grid(first: str) -> Table:
    grid = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(first, overflow="fold", min_width=_NAME_WIDTH)
    return grid


def _print_wrapped(console: Console, text: Text) -> None:
    for line in text.wrap(console, min(console.width, _READABLE_WIDTH)):
        line.rstrip()
        console.print(line)
