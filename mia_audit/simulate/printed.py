"""What `jobs.simulate` prints: expected beside observed, readable at 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mia_audit.simulate.checks import Check, Outcome

_READABLE_WIDTH = 100
_MEANING = (
    "±: what chance over the repeats allows (99.99%), and the rounding of a published figure;"
    " ≤: a promised upper bound."
)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """One simulation: its title, what it asks, and its table."""
    console.print()
    console.print(Text(outcome.title, style="bold"))
    print_wrapped(console, Text(outcome.sentence, style="dim"))
    console.print(_table(outcome.checks))


def print_summary(console: Console, outcomes: Sequence[Outcome], where: str) -> None:
    """One sentence on all of them, and the run's address."""
    console.print()
    print_wrapped(console, Text(_MEANING, style="dim"))
    print_wrapped(console, Text(summary(outcomes), style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("Run", Text(where))
    console.print(grid)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Whether everything came out as expected."""
    checks = [check for outcome in outcomes for check in outcome.checks]
    failed = [check for check in checks if not check.verdict.passed]
    if not failed:
        return f"All {len(checks)} quantities came out as expected."
    names = ", ".join(check.quantity for check in failed)
    return f"{len(failed)} of {len(checks)} quantities did not come out as expected: {names}."


def print_wrapped(console: Console, text: Text) -> None:
    for line in text.wrap(console, min(console.width, _READABLE_WIDTH)):
        line.rstrip()
        console.print(line)


def _table(checks: Sequence[Check]) -> Table:
    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Quantity", no_wrap=True)
    for name in ("Expected", "Observed", "±"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    for check in checks:
        decimals = _decimals(check)
        bound = "≤ " if check.is_bound else ""
        style = "" if check.verdict.passed else "bold red"
        table.add_row(
            check.quantity,
            f"{bound}{check.expected:.{decimals}f}",
            f"{check.observed:.{decimals}f}",
            f"{check.tolerance:.{decimals}f}",
            Text(check.verdict.value, style=style),
        )
    return table


def _decimals(check: Check) -> int:
    """So many that the tolerance shows two digits: at least 3, at most 5."""
    if not 0 < check.tolerance < math.inf:
        return 4
    return min(5, max(3, 1 - math.floor(math.log10(check.tolerance))))
