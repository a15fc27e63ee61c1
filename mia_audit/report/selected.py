"""PTDI on the page: what it achieves over all models, and the records named for one of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mia_audit.report.sentences import selection_curve, selection_line
from mia_audit.report.words import interval, percent

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult
    from mia_audit.stats.ptdi_audit import SelectionAudit

_MOST_LISTED = 100


def selection_view(result: "AuditResult") -> dict[str, Any] | None:
    """Facts, one sentence, rows of named records and footnotes; None without a selection."""
    audit = result.selection
    if audit is None:
        return None
    size = audit.selection.indices.size
    notes = [audit.note] if audit.note and size else []
    if size > _MOST_LISTED:
        notes.append(f"The first {_MOST_LISTED} of {size:,} are listed.")
    return {
        "facts": _facts(audit),
        "sentence": audit.note if audit.note and not size else f"{_sentence(audit)}.",
        "header": ["Record", "Scaled p-value", "In truth"],
        "records": _named_rows(audit, result.record_ids),
        "notes": notes,
    }


def _sentence(audit: "SelectionAudit") -> str:
    line = selection_line(audit)
    return line[:1].upper() + line[1:]


def _facts(audit: "SelectionAudit") -> list[tuple[str, str]]:
    chosen, curve = audit.selection, selection_curve(audit)
    smallest = "none: these data name no record at any level"
    if chosen.smallest_alpha <= 1:
        smallest = f"{percent(chosen.smallest_alpha, 2)}; below it these data name no record"
    facts = [
        ("Model looked at", f"number {audit.target}"),
        ("Calibrated on", f"{chosen.num_calibration:,} records known not to be members"),
        ("Candidates", f"{chosen.num_candidates:,}"),
        ("Estimated share of non-members", percent(chosen.non_member_share)),
        ("Smallest level that names one", smallest),
    ]
    if curve is not None:
        wrong = f"{percent(curve.fdr)} {interval(curve.fdr_lower, curve.fdr_upper)}"
        found = f"{percent(curve.power)} {interval(curve.power_lower, curve.power_upper)}"
        facts.append((f"Over {audit.num_targets:,} models",
                      f"{wrong} of those named are wrong, {found} of the members are found"))  # fmt: skip
    return facts


def _named_rows(audit: "SelectionAudit", record_ids: np.ndarray) -> list[tuple[str, str, str]]:
    """(record, scaled p-value, truth) of the records named, in the order of the columns."""
    named, chosen = audit.named, audit.selection
    order = np.argsort(named.candidate_records[chosen.indices])
    p_values = chosen.scaled_p_values[chosen.indices][order]
    columns = zip(named.selected_records, p_values, named.selected_members, strict=True)
    return [
        (str(record_ids[column]), f"{p:.2g}", "member" if inside else "not a member")
        for column, p, inside in list(columns)[:_MOST_LISTED]
    ]
