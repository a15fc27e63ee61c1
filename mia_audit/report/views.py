"""What each section of the page shows, as strings: the template only places them."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mia_audit.report.context import ReportContext
from mia_audit.report.exposure import exposed_table
from mia_audit.report.labels import label_of
from mia_audit.report.selected import existing_view
from mia_audit.report.sentences import accuracy_line, headline_point
from mia_audit.report.tables import PointTable, point_table
from mia_audit.report.words import MISSING, duration, interval, level, number, percent

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult

Pairs = list[tuple[str, str]]


def facts(context: ReportContext) -> Pairs:
    """The line under the title."""
    named = [("Data", context.dataset), ("Model", context.model), ("Defence", context.defence)]
    sizes = [("Models", f"{context.num_models:,}"), ("Records", f"{context.num_records:,}")]
    return [(name, value) for name, value in named if value] + sizes


def tiles(result: "AuditResult") -> list[dict[str, str]]:
    """The few figures beside the headline: name, value, detail."""
    evaluation, accuracy = result.evaluation, result.test_accuracy
    shown = []
    point = headline_point(evaluation.points)
    if point is not None:
        naive = evaluation.point("naive", point.alpha)
        shown.append({"name": f"Naive LiRA at {level(point.alpha)}", "value": percent(naive.tpr),
                      "detail": "the rate held on average only"})  # fmt: skip
    shown.append({"name": "AUC", "value": f"{evaluation.auc:.3f}", "detail": "0.5 is guessing"})
    if np.isfinite(accuracy).any():
        train = float(np.nanmean(result.train_accuracy))
        shown.append({"name": "Test accuracy", "value": percent(float(np.nanmean(accuracy)), 1),
                      "detail": f"training {percent(train, 1)}"})  # fmt: skip
    if math.isfinite(result.epsilon_measured):
        claimed = result.epsilon_claimed
        detail = "at 95% confidence" if claimed is None else f"claimed: {number(claimed)}"
        shown.append({"name": "ε, measured at least", "value": number(result.epsilon_measured, 2),
                      "detail": detail})  # fmt: skip
    return shown


def warnings(result: "AuditResult") -> list[str]:
    """What a reader must know before believing the numbers."""
    evaluation = result.evaluation
    found = list(result.warnings)
    if result.refutes_claim:
        found.append(
            f"The claim is refuted: the defence claims ε = {number(result.epsilon_claimed or 0)}, "
            f"but at least {number(result.epsilon_measured)} was measured at 95% confidence."
        )
    if evaluation.nan_entries:
        found.append(f"{evaluation.nan_entries:,} scores had too few models with or without their "
                     "record to be judged, and are left out of every row.")  # fmt: skip
    if evaluation.floored_share > 0.01:
        found.append(f"{percent(evaluation.floored_share)} of the scores do not vary between "
                     "models: they are saturated, and nothing can be told from them.")  # fmt: skip
    if evaluation.negative_share > 0.05:
        found.append(f"On {percent(evaluation.negative_share)} of the records membership clearly "
                     "lowers the score; the attack looks for a rise and misses them.")  # fmt: skip
    return found


def spread_rows(result: "AuditResult") -> list[tuple[str, ...]]:
    """Spread of the records' false-positive rates: one row a method and level."""
    rows = sorted(result.evaluation.spread, key=lambda s: (-s.alpha, s.method != "naive"))
    values = [map(percent, (row.raw, row.reference, row.excess)) for row in rows]
    return [
        (label_of(row.method).title, level(row.alpha), *cells)
        for row, cells in zip(rows, values, strict=True)
    ]


def normality_facts(result: "AuditResult") -> Pairs:
    """The check of the non-member scores."""
    check = result.evaluation.normality
    return [
        ("Skewness", f"{number(check.skewness, 2)} (normal: 0)"),
        ("Excess kurtosis", f"{number(check.excess_kurtosis, 2)} (normal: 0)"),
        ("Weight of the tail", f"{number(check.tail_ratio, 3)} times the normal one"),
    ]


def exposed_view(result: "AuditResult") -> dict[str, Any]:
    """Rows (record, TPR, interval) of the most exposed records and their level."""
    table = exposed_table(result)
    if table is None:
        return {"level": "", "rows": []}
    columns = zip(table.names, table.tpr, table.lower, table.upper, strict=True)
    rows = [(name, percent(tpr), interval(low, high, 1)) for name, tpr, low, high in columns]
    return {"level": level(table.alpha), "rows": rows}


def population_table(result: "AuditResult") -> PointTable | None:
    """The population's rows, each beside the same closed form within this pool."""
    if not result.population:
        return None
    points = result.evaluation.points
    within = [point for point in points if point.method == "per_record_normal"]
    return point_table([*result.population, *within])


def needed_rows(result: "AuditResult") -> list[tuple[str, str, str]]:
    """How many models a statement about single records asks for."""
    rows = []
    for row in result.models_needed:
        width = row["half_width"]
        wanted = "a cut-off for each record on its own"
        if math.isfinite(width):
            wanted = f"the rate of one record to within ±{100 * width:.0f} points"
        rows.append((level(row["alpha"]), wanted, f"{int(row['num_models']):,}"))
    return rows


def accuracy_sentence(result: "AuditResult") -> str:
    """'Test 85.3%, train 91.2% (mean of 128 models)' or ''."""
    line = accuracy_line(result.train_accuracy, result.test_accuracy)
    return line[:1].upper() + line[1:]


def profile(context: ReportContext) -> Pairs:
    """Facts about the data set."""
    shown = [("Data set", context.dataset), ("Records audited", f"{context.num_records:,}")]
    return shown + [(name.replace("_", " "), value) for name, value in context.profile.items()]


def provenance(context: ReportContext) -> Pairs:
    """Where the numbers come from."""
    shown = [
        ("Attack", context.attack),
        ("Membership design", context.design),
        ("Seed", str(context.seed)),
        ("Key in the store", context.store_key),
        ("Devices", ", ".join(context.devices)),
        ("Training time", duration(context.seconds)),
        ("Run", context.run_link),
    ]
    return [(name, value) for name, value in shown if value and value != MISSING]


def target_view(result: "AuditResult") -> dict[str, Any] | None:
    """The existing model: its table and how many records it was judged on."""
    target = result.target
    if target is None:
        return None
    return {
        "num_members": target.num_members,
        "num_non_members": target.num_non_members,
        "table": point_table(target.points),
        "selection": None
        if target.selection is None
        else existing_view(target.selection, result.record_ids),
    }
