"""The self-contained page of a comparison: what each section shows, as strings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from mia_audit.compare.comparison import Comparison, Level, Row
from mia_audit.compare.figures import colours_of
from mia_audit.compare.trade_off import front_of
from mia_audit.compare.words import (
    attackers,
    cost,
    difference_cells,
    finding,
    lead_note,
    pairing_sentence,
    points,
    points_interval,
    refutation,
    verdict,
)
from mia_audit.report import ReportContext
from mia_audit.report.page import render
from mia_audit.report.views import facts, profile, provenance, warnings
from mia_audit.report.words import decimals_at, duration, interval, level, number, percent

_SATURATED = 0.01  # above it the scores themselves are warned of, not their shape


@dataclass(frozen=True)
class Cells:
    """One defence at one level, every cell a string; `note` is a footnote's number or ''."""

    name: str
    colour: str
    is_reference: bool
    tpr: str
    range: str
    exact: str
    exact_fpr: str
    difference: str
    difference_range: str
    verdict: str
    note: str


def render_comparison(
    comparison: Comparison, context: ReportContext, figures: dict[str, bytes]
) -> str:
    """The page as one string of HTML; `figures` are PNG bytes by name (see `draw_comparison`)."""
    notes: list[str] = []
    colours = [  # ink is black, whatever the page's theme
        "currentColor" if row.is_reference else colour
        for row, colour in zip(comparison.rows, colours_of(comparison.rows), strict=True)
    ]
    return render(
        "compare.html.j2",
        figures,
        context=context,
        facts=[*facts(context), ("Defences", str(len(comparison.rows)))],
        finding=_marked(finding(comparison)),
        tiles=_tiles(comparison),
        warnings=[refutation(row) for row in comparison.refuted],
        pairing=pairing_sentence(comparison),
        lead=level(comparison.lead_alpha),
        groups=[(level(alpha), _group(comparison, alpha, colours, notes))
                for alpha in comparison.alphas],
        notes=notes,
        cautions=_cautions(comparison),
        utility=_utility(comparison),
        guarantees=_guarantees(comparison),
        selection_level=_selection_level(comparison),
        intervals=_intervals(comparison),
        is_paired=comparison.is_paired,
        exposed=_exposed(comparison),
        num_exposed=f"{comparison.num_exposed:,}",
        attackers=attackers(comparison),
        profile=profile(context),
        provenance=provenance(context),
    )  # fmt: skip


def _marked(sentence: str) -> list[tuple[str, bool]]:
    """The sentence in pieces, each with whether it is a figure; the level named first is none."""
    pieces = re.split(r"(\d[\d.]*%)", sentence)
    return [(piece, i % 2 == 1 and i > 1) for i, piece in enumerate(pieces)]


def _tiles(comparison: Comparison) -> list[dict[str, str]]:
    """The figures beside the headline: without a defence, and the ends of the front."""
    alpha = comparison.lead_alpha
    bare = comparison.reference
    shown = [
        {
            "name": f"TPR without a defence, at {level(alpha)}",
            "value": percent(bare.level(alpha).point.tpr),
            "detail": f"test accuracy {percent(bare.test_accuracy[0], 1)}",
        }
    ]
    rows = [row for row, on in zip(comparison.rows, front_of(comparison), strict=True) if on]
    safest = min(rows, key=lambda r: r.level(alpha).point.tpr, default=bare)
    best = max(rows, key=lambda r: r.test_accuracy[0], default=bare)
    accuracy, rate = percent(safest.test_accuracy[0], 1), percent(best.level(alpha).point.tpr)
    shown += [
        {
            "name": "Least exposed: TPR",
            "value": percent(safest.level(alpha).point.tpr),
            "detail": f"{safest.label}, test accuracy {accuracy}",
        },
        {
            "name": "Most accurate: test accuracy",
            "value": percent(best.test_accuracy[0], 1),
            "detail": f"{best.label}, TPR {rate}",
        },
    ]
    return shown


def _group(
    comparison: Comparison, alpha: float, colours: list[str], notes: list[str]
) -> list[Cells]:
    return [
        _cells(row, row.level(alpha), colour, notes)
        for row, colour in zip(comparison.rows, colours, strict=True)
    ]


def _cells(row: Row, found: Level, colour: str, notes: list[str]) -> Cells:
    places = decimals_at(found.alpha)
    difference, bounds = difference_cells(found.difference, found.alpha)
    return Cells(
        name=row.label,
        colour=colour,
        is_reference=row.is_reference,
        tpr=percent(found.point.tpr, places),
        range=interval(found.point.lower, found.point.upper, places),
        exact=percent(found.exact.tpr, places),
        exact_fpr=percent(found.exact.fpr, places),
        difference=difference,
        difference_range=bounds,
        verdict=verdict(found.difference),
        note=_footnote(lead_note(found), notes),
    )


def _cautions(comparison: Comparison) -> list[tuple[str, str]]:
    """What a reader must know of single rows before believing their numbers."""
    found = []
    for row in comparison.rows:
        result = replace(row.result, epsilon_claimed=None)  # a refuted claim is told at the top
        found += [(row.label, sentence) for sentence in warnings(result)]
        if result.evaluation.normality.warning and result.evaluation.floored_share <= _SATURATED:
            found.append((row.label, result.evaluation.normality.warning))
    return found


def _footnote(note: str, notes: list[str]) -> str:
    """The number of `note` among the footnotes, added if new."""
    if not note:
        return ""
    sentence = f"{note[0].upper()}{note[1:]}."
    if sentence not in notes:
        notes.append(sentence)
    return str(notes.index(sentence) + 1)


def _utility(comparison: Comparison) -> list[tuple[str, ...]]:
    """Accuracy, its difference to none, and the gap of each defence."""
    return [
        (
            row.label,
            percent(row.train_accuracy, 1),
            percent(row.test_accuracy[0], 1),
            points(row.gap, 1),
            points(row.accuracy_difference[0], 2),
            points_interval(row.accuracy_difference[1], row.accuracy_difference[2], 2),
            duration(row.seconds),
            cost(row),
        )
        for row in comparison.rows
    ]


def _guarantees(comparison: Comparison) -> list[tuple[str, ...]]:
    """AUC, PTDI and both ε of each defence."""
    return [
        (
            row.label,
            f"{row.result.evaluation.auc:.3f}",
            percent(row.selection_power),
            number(row.epsilon_accountant),
            number(row.result.epsilon_measured, 2),
        )
        for row in comparison.rows
    ]


def _selection_level(comparison: Comparison) -> str:
    selection = comparison.reference.result.selection
    return level(selection.selection.alpha) if selection is not None else ""


def _intervals(comparison: Comparison) -> list[tuple[str, ...]]:
    """Width of the interval of each difference with and without pairing, at the lead level."""
    alpha = comparison.lead_alpha
    rows = []
    for row in comparison.rows[1:]:
        found = row.level(alpha)
        if found.paired is None or found.unpaired is None:
            continue
        widths = [one.upper - one.lower for one in (found.paired, found.unpaired)]
        rows.append(
            (
                row.label,
                *(points_interval(d.lower, d.upper, 2) for d in (found.paired, found.unpaired)),
                f"{number(widths[1] / widths[0], 2)}×" if widths[0] > 0 else "–",
            )
        )
    return rows


def _exposed(comparison: Comparison) -> list[tuple[str, ...]]:
    """The per-record view of each defence at the lead level."""
    alpha = comparison.lead_alpha
    found: list[tuple[str, ...]] = []
    for row in comparison.rows:
        at: Any = row.level(alpha)
        cells = (at.point.tpr, at.record_tpr, at.exposed_tpr, at.overlap)
        found.append((row.label, *(percent(value) for value in cells)))
    return found
