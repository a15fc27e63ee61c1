"""Operating points as rows ready to print, shared by the page and the terminal."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from mia_audit.report.labels import ESTIMATED, HEADLINE, MethodLabel, label_of
from mia_audit.report.words import MISSING, decimals_at, interval, level, percent
from mia_audit.stats.evaluation import OperatingPoint

MAIN_METHODS = (
    HEADLINE,
    "post_conditional",
    "post_regression",
    "post_student_t_exact",
    "naive",
    "attack",
    "per_record",
    "per_record_normal",
)
OTHER_METHODS = (
    "post_student_t",
    "post_normal",
    f"{HEADLINE}{ESTIMATED}",
    f"post_student_t{ESTIMATED}",
    f"post_normal{ESTIMATED}",
)


@dataclass(frozen=True)
class Mark:
    """An interval as a small picture: positions in percent of the cell's width."""

    centre: float
    left: float
    right: float
    chance: float


@dataclass(frozen=True)
class Row:
    """One method at one level, every cell a string; `note` is the number of a footnote or ''."""

    label: MethodLabel
    achieved: str
    achieved_range: str
    tpr: str
    range: str
    times: str
    note: str
    is_headline: bool
    is_inflated: bool
    mark: Mark | None


@dataclass(frozen=True)
class Group:
    """The rows of one nominal level."""

    level: str
    rows: list[Row]


@dataclass(frozen=True)
class PointTable:
    """Operating points grouped by level, with the footnotes that their rows refer to."""

    groups: list[Group]
    footnotes: list[str] = field(default_factory=list)

    @property
    def labels(self) -> list[MethodLabel]:
        """Each method shown, once, in the order of the table."""
        return list(dict.fromkeys(row.label for group in self.groups for row in group.rows))


def point_table(
    points: Iterable[OperatingPoint], methods: Iterable[str] | None = None, *, attack: str = ""
) -> PointTable:
    """Rows for `methods` in that order (default: those present), grouped by level, large first."""
    points = list(points)
    order = list(dict.fromkeys(p.method for p in points) if methods is None else methods)
    notes: dict[str, str] = {}
    groups = []
    for alpha in sorted({p.alpha for p in points}, reverse=True):
        chosen = [p for method in order for p in points if (p.method, p.alpha) == (method, alpha)]
        if chosen:
            end = max((_reach(p) for p in chosen), default=0.0)
            groups.append(Group(level(alpha), [_row(p, end, notes, attack) for p in chosen]))
    return PointTable(groups, list(notes))


def remaining_methods(points: Iterable[OperatingPoint]) -> list[str]:
    """Methods present that the main table leaves out, known ones first."""
    present = dict.fromkeys(p.method for p in points)
    known = [method for method in OTHER_METHODS if method in present]
    return known + [m for m in present if m not in known and m not in MAIN_METHODS]


def _row(point: OperatingPoint, end: float, notes: dict[str, str], attack: str) -> Row:
    places = decimals_at(point.alpha)
    bounds = interval(point.lower, point.upper, places)
    fpr_bounds = interval(point.fpr_lower, point.fpr_upper, places)
    return Row(
        label=label_of(point.method, attack=attack),
        achieved=percent(point.fpr, places),
        achieved_range="" if fpr_bounds == MISSING else fpr_bounds,
        tpr=percent(point.tpr, places),
        range=bounds,
        times=_over_chance(point),
        note=_footnote(point.note, notes),
        is_headline=point.method == HEADLINE,
        is_inflated=bool(point.fpr_lower > point.alpha),
        mark=_mark(point, end),
    )


def _over_chance(point: OperatingPoint) -> str:
    """TPR over the FPR that was really borne (the one asked for where that is unknown)."""
    if not math.isfinite(point.tpr):
        return MISSING
    return f"{point.tpr / (point.fpr if point.fpr > 0 else point.alpha):.1f}×"


def _footnote(note: str, notes: dict[str, str]) -> str:
    """The number of `note` among the footnotes, added if new; methods get their readable names."""
    if not note:
        return ""
    readable = re.sub(r"\b(post|per)_\w+", lambda found: f"“{label_of(found[0]).title}”", note)
    sentence = f"{readable[0].upper()}{readable[1:]}."
    return notes.setdefault(sentence, str(len(notes) + 1))


def _reach(point: OperatingPoint) -> float:
    ends = [v for v in (point.upper, point.tpr, point.alpha) if math.isfinite(v)]
    return max(ends, default=0.0)


def _mark(point: OperatingPoint, end: float) -> Mark | None:
    if not math.isfinite(point.tpr) or end <= 0:
        return None
    scale = 96 / end
    left = point.lower if math.isfinite(point.lower) else point.tpr
    right = point.upper if math.isfinite(point.upper) else point.tpr
    return Mark(*(round(2 + scale * v, 2) for v in (point.tpr, left, right, point.alpha)))
