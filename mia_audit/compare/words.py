"""What a comparison found, in sentences and cells that the page and the terminal share."""

from __future__ import annotations

import math

from mia_audit.compare.comparison import Comparison, Level, Row
from mia_audit.compare.entries import REFERENCE
from mia_audit.report.words import MISSING, decimals_at, level, number, percent
from mia_audit.stats.differences import Difference

LOWER, HIGHER, UNCLEAR, EQUAL = "lower", "higher", "unclear", "equal"


def title_of(model: str, dataset: str) -> str:
    """The title of a comparison's page."""
    return f"Defences of {model} on {dataset}, compared"


def attacker_sentence(label: str) -> str:
    """Whom a row assumes, unless the defence says so itself."""
    if label == REFERENCE:
        return "Shadow models trained as the target is, without a defence."
    return "Adaptive: every shadow model is trained with the same defence and settings."


def attackers(comparison: Comparison) -> list[tuple[str, str]]:
    """Who is assumed, with the defences it is assumed for: one pair an attacker."""
    named: dict[str, list[str]] = {}
    for row in comparison.rows:
        named.setdefault(row.attacker, []).append(row.label)
    others = len(comparison.rows) - 1
    return [
        ("all others" if len(labels) == others > 1 else ", ".join(labels), sentence)
        for sentence, labels in named.items()
    ]


def verdict(found: Difference | None) -> str:
    """Which side of 0 the interval of a difference lies on; '' without an interval.

    `equal`: the defence changed no decision at all (as a temperature, which the attacker undoes).
    """
    if found is None or not math.isfinite(found.lower):
        return ""
    if found.lower == found.upper == 0:
        return EQUAL
    if found.upper < 0:
        return LOWER
    return HIGHER if found.lower > 0 else UNCLEAR


def points(value: float, decimals: int) -> str:
    """A difference of shares in percentage points, with its sign: '−1.40'."""
    if not math.isfinite(value):
        return MISSING
    shown = f"{100 * value:+.{decimals}f}".replace("-", "−")
    return shown if shown.strip("+−0.") else shown[1:]  # no sign before a zero


def points_interval(lower: float, upper: float, decimals: int) -> str:
    """'[−1.52, −0.31]' in percentage points, or '–'."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return MISSING
    return f"[{points(lower, decimals)}, {points(upper, decimals)}]"


def difference_cells(found: Difference | None, alpha: float) -> tuple[str, str]:
    """The difference and its interval in percentage points; dashes for the reference."""
    if found is None:
        return MISSING, MISSING
    places = decimals_at(alpha)
    return (
        points(found.difference, places),
        points_interval(found.lower, found.upper, places),
    )


def cost(row: Row) -> str:
    """Training time over the reference's: '1.8×'."""
    return f"{number(row.cost, 2)}×" if math.isfinite(row.cost) else MISSING


def finding(comparison: Comparison) -> str:
    """The one sentence of a comparison, at its lead level."""
    alpha = comparison.lead_alpha
    levels = [(row, row.level(alpha)) for row in comparison.rows[1:]]
    before = f"At a false-positive rate of {level(alpha)},"
    bare = comparison.reference.level(alpha).point.tpr
    found = f"an attacker finds {percent(bare)} of the training records"
    if not levels:
        return f"{before} {found}; no defence was compared with that."
    helping = [pair for pair in levels if verdict(pair[1].difference) == LOWER]
    if not helping:
        return (
            f"{before} {found}, and no defence is shown to change that for the better: every "
            "interval of a difference reaches 0 or lies above it."
        )
    rank = f"lowest of the {len(helping)}" if len(helping) > 1 else "only one"
    row, best = min(helping, key=lambda pair: pair[1].point.tpr)
    return (
        f"{before} {found} without a defence and {percent(best.point.tpr)} with {row.label}, the "
        f"{rank} shown to help{_price(row)}."
    )


def _price(row: Row) -> str:
    change = row.accuracy_difference[0]
    if not math.isfinite(change):
        return ""
    size = f"{abs(100 * change):.1f} points of test accuracy"
    return f"; it costs {size}" if change < 0 else f"; it gains {size}"


def refutation(row: Row) -> str:
    """The sentence for a claim that measurement contradicts."""
    return (
        f"The claim of {row.label} is refuted: it claims ε = {number(row.epsilon_accountant)}, but "
        f"at least {number(row.result.epsilon_measured)} was measured at 95% confidence."
    )


def pairing_sentence(comparison: Comparison) -> str:
    """What the differences and their intervals are."""
    if comparison.is_paired:
        return (
            "All defences were trained on the same training sets from the same seeds, so "
            "differences to none are paired: what both have in common drops out."
        )
    return (
        "These audits are of different data, training sets or models: differences to none are "
        "between independent sweeps, and part of them may be due to that."
    )


def lead_note(found: Level) -> str:
    """Why a level has no interval, '' if it has one."""
    return found.point.note or ("" if found.difference is None else found.difference.note)
