"""`comparison.csv` and `comparison.json`: one row a defence, one column a number."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from mia_audit.compare.comparison import Comparison, Level, Row

Cells = dict[str, object]


def table_rows(comparison: Comparison) -> list[Cells]:
    """Rows as plain values; levels are written `f"{alpha:g}"`, unavailable numbers are nan.

    The columns of the contract come first, what qualifies them after.
    """
    return [_main(row) | _more(row) for row in comparison.rows]


def table_csv(comparison: Comparison) -> str:
    """The table as CSV; unavailable numbers are empty."""
    rows = table_rows(comparison)
    output = io.StringIO()
    writer = csv.DictWriter(output, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return output.getvalue()


def _main(row: Row) -> Cells:
    cells: Cells = {
        "defence": row.label,
        "test_accuracy": row.test_accuracy[0],
        "train_accuracy": row.train_accuracy,
        "auc": row.result.evaluation.auc,
    }
    for level in row.levels:
        cells |= _rates(level)
    return cells | {
        "epsilon_accountant": row.epsilon_accountant,
        "epsilon_measured": row.result.epsilon_measured,
        "seconds": row.seconds,
    }


def _rates(level: Level) -> Cells:
    name, point, found = f"{level.alpha:g}", level.point, level.difference
    cells: Cells = {
        f"tpr_at_fpr/{name}": point.tpr,
        f"tpr_at_fpr/{name}_lower": point.lower,
        f"tpr_at_fpr/{name}_upper": point.upper,
    }
    values = (0.0, math.nan, math.nan)
    if found is not None:
        values = (found.difference, found.lower, found.upper)
    for suffix, value in zip(("", "_lower", "_upper"), values, strict=True):
        cells[f"tpr_difference/{name}{suffix}"] = value
    return cells


def _more(row: Row) -> Cells:
    cells: Cells = {
        "test_accuracy_lower": row.test_accuracy[1],
        "test_accuracy_upper": row.test_accuracy[2],
        "accuracy_gap": row.gap,
        "accuracy_difference": row.accuracy_difference[0],
        "accuracy_difference_lower": row.accuracy_difference[1],
        "accuracy_difference_upper": row.accuracy_difference[2],
        "selection_power": row.selection_power,
        "cost": row.cost,
    }
    for level in row.levels:
        cells |= dict(_details(level))
    return cells | {"attacker": row.attacker}


def _details(level: Level) -> Iterator[tuple[str, object]]:
    name = f"{level.alpha:g}"
    yield f"fpr_achieved/{name}", level.point.fpr
    yield f"tpr_exact_t/{name}", level.exact.tpr
    yield f"fpr_exact_t/{name}", level.exact.fpr
    yield f"excludes_zero/{name}", excludes_zero(level)
    loose = level.unpaired
    yield f"unpaired_lower/{name}", math.nan if loose is None else loose.lower
    yield f"unpaired_upper/{name}", math.nan if loose is None else loose.upper
    yield f"record_tpr_p99/{name}", level.record_tpr
    yield f"exposed_tpr/{name}", level.exposed_tpr
    yield f"exposed_overlap/{name}", level.overlap


def excludes_zero(level: Level) -> bool | None:
    """Whether the interval of the difference leaves out 0; None without an interval."""
    found = level.difference
    if found is None or not math.isfinite(found.lower):
        return None
    return found.lower > 0 or found.upper < 0


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.9g}" if math.isfinite(value) else ""
    return value
