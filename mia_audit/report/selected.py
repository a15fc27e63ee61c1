"""PTDI on the page: what it achieves over all models, and the records named for one of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.report.sentences import named_line, selection_curve, selection_line
from mia_audit.report.words import interval, percent, percent_up

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult
    from mia_audit.stats.ptdi_audit import SelectionAudit
    from mia_audit.stats.ptdi_target import TargetSelection

_MOST_LISTED = 100


@dataclass(frozen=True)
class NamedView:
    """One model's selection as text: facts, a sentence, rows of named records, footnotes."""

    facts: list[tuple[str, str]]
    sentence: str
    rows: list[tuple[str, str, str]]
    notes: list[str]

    header = ("Record", "Scaled p-value", "In truth")


def selection_view(result: "AuditResult") -> NamedView | None:
    """The selection of the audit's named model, with the averages over all models."""
    audit = result.selection
    if audit is None:
        return None
    facts = [
        ("Model looked at", f"number {audit.target}"),
        *_facts(audit.named),
        ("Share estimated by", result.estimator),
        *_averages(audit),
    ]
    return _view(audit.named, facts, selection_line(audit), result.record_ids)


def existing_view(named: "TargetSelection", record_ids: np.ndarray) -> NamedView:
    """The selection of an existing model; record_ids [N]."""
    return _view(named, _facts(named), named_line(named, "the existing model"), record_ids)


def _view(
    named: "TargetSelection", facts: list[tuple[str, str]], line: str, record_ids: np.ndarray
) -> NamedView:
    size = named.selection.indices.size
    notes = [named.note] if named.note and size else []
    if size > _MOST_LISTED:
        notes.append(f"The first {_MOST_LISTED} of {size:,} are listed.")
    sentence = f"{line[:1].upper()}{line[1:]}." if size or not named.note else named.note
    return NamedView(facts, sentence, _rows(named, record_ids), notes)


def _facts(named: "TargetSelection") -> list[tuple[str, str]]:
    chosen = named.selection
    smallest = "none: these data name no record at any level"
    if chosen.smallest_alpha <= 1:
        smallest = f"{percent_up(chosen.smallest_alpha, 2)}; below it these data name no record"
    return [
        ("Calibrated on", f"{chosen.num_calibration:,} records known not to be members"),
        ("Candidates", f"{chosen.num_candidates:,}"),
        ("Non-members, estimated", percent(chosen.non_member_share)),
        ("Smallest useful level", smallest),
    ]


def _averages(audit: "SelectionAudit") -> list[tuple[str, str]]:
    curve = selection_curve(audit)
    if curve is None:
        return []
    wrong = f"{percent(curve.fdr)} {interval(curve.fdr_lower, curve.fdr_upper)}"
    found = f"{percent(curve.power)} {interval(curve.power_lower, curve.power_upper)}"
    sentence = f"{wrong} of those named are wrong, {found} of the members are found"
    return [(f"Over {audit.num_targets:,} models", sentence)]


def _rows(named: "TargetSelection", record_ids: np.ndarray) -> list[tuple[str, str, str]]:
    """(record, scaled p-value, truth) of the records named, in the order of the columns."""
    chosen = named.selection
    order = np.argsort(named.candidate_records[chosen.indices])
    p_values = chosen.scaled_p_values[chosen.indices][order]
    columns = zip(named.selected_records, p_values, named.selected_members, strict=True)
    return [
        (str(record_ids[column]), f"{p:.2g}", "member" if inside else "not a member")
        for column, p, inside in list(columns)[:_MOST_LISTED]
    ]
