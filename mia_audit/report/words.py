"""Numbers as a reader wants them, and what they mean in plain sentences."""

import math
from dataclasses import dataclass
from typing import Any

from mia_audit.report.labels import HEADLINE

MISSING = "–"
_PREFERRED_LEVEL = 0.01


def level(alpha: float) -> str:
    """A false-positive rate as it is spoken of: 0.001 -> '0.1%'."""
    return f"{100 * alpha:g}%"


def decimals_at(alpha: float) -> int:
    """Decimals of a percentage that keep two digits at the size of `alpha`."""
    return max(1, 1 + math.ceil(-math.log10(100 * alpha) - 1e-9)) if alpha > 0 else 2


def percent(value: float, decimals: int | None = None) -> str:
    """A share as a percentage; two significant digits unless `decimals` is given; nan is '–'."""
    if not math.isfinite(value):
        return MISSING
    places = _places(value) if decimals is None else decimals
    return f"{100 * value:.{places}f}%"


def interval(lower: float, upper: float, decimals: int | None = None) -> str:
    """'[2.9, 3.5]' in percent, or '–' when either end is missing."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return MISSING
    places = max(_places(lower), _places(upper)) if decimals is None else decimals
    return f"[{100 * lower:.{places}f}, {100 * upper:.{places}f}]"


def number(value: float, digits: int = 3) -> str:
    """A plain number with significant digits; nan is '–'."""
    return f"{value:.{digits}g}" if math.isfinite(value) else MISSING


def duration(seconds: float) -> str:
    """Seconds as '42 s', '3 min 20 s' or '2 h 5 min'."""
    if not math.isfinite(seconds):
        return MISSING
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _places(value: float) -> int:
    size = abs(100 * value)
    if size >= 9.95 or size == 0:
        return 1 if size else 0
    return min(6, 1 - math.floor(math.log10(size)))


@dataclass(frozen=True)
class Headline:
    """The one sentence of an audit in parts: `before` `figure` `range` `after`, then `comparison`."""

    before: str
    figure: str
    range: str
    after: str
    comparison: str
    point: Any | None

    def __str__(self) -> str:
        parts = (self.before, self.figure, self.range, self.after)
        sentence = " ".join(part for part in parts if part)
        return f"{sentence} – {self.comparison}." if self.comparison else f"{sentence}."


def headline_point(points: list[Any]) -> Any | None:
    """The point to lead with: `post_empirical` at 1%, else the nearest level that has a number."""
    usable = [p for p in points if p.method == HEADLINE and math.isfinite(p.tpr)]
    distance = math.log(_PREFERRED_LEVEL)
    return min(usable, key=lambda p: abs(math.log(p.alpha) - distance), default=None)


def headline(points: list[Any]) -> Headline:
    """What the audit found, in plain words."""
    point = headline_point(points)
    if point is None:
        return Headline(
            "There are too few models or records for a calibrated answer", "", "", "", "", None
        )
    places = max(1, _places(point.tpr))
    bounds = interval(point.lower, point.upper, places)
    return Headline(
        f"At a false-positive rate of {level(point.alpha)} on every record, an attacker finds",
        percent(point.tpr, places),
        "" if bounds == MISSING else bounds,
        "of the training records",
        _comparison(point),
        point,
    )


def _comparison(point: Any) -> str:
    ratio = (
        f"{point.tpr / point.alpha:.2g}"
        if point.tpr < 9.95 * point.alpha
        else (f"{point.tpr / point.alpha:.0f}")
    )
    if not math.isfinite(point.lower):
        return f"{ratio} times chance, with too few hits for an interval"
    if point.lower > point.alpha:
        return f"{ratio} times chance"
    if point.upper < point.alpha:
        return f"less than the {level(point.alpha)} that guessing finds"
    return f"not to be told from the {level(point.alpha)} that guessing finds"


def what_it_means(point: Any, *, num_models: int) -> list[str]:
    """Sentences that say how to read the headline."""
    even = point.tpr / (point.tpr + point.fpr) if point.tpr + point.fpr > 0 else math.nan
    sentences = [
        f"Whoever owns {num_models - 1:,} models trained on data like these, and accepts being "
        f"wrong about {level(point.alpha)} of the records that were not used, recognises a record "
        f"that was used with a probability of {percent(point.tpr)}, on average over records.",
        "The rate of false positives is held on every record, not just on average: "
        "easy records do not pay for hard ones.",
    ]
    if math.isfinite(even):
        sentences.append(
            f"Among as many members as non-members, {percent(even, 0)} of the records the attacker "
            "points at would be members."
        )
    return sentences


def what_it_does_not_mean(*, num_models: int) -> list[str]:
    """Sentences that keep the headline from being read as more than it is."""
    return [
        "It is an average. Single records can be far more exposed: see the most exposed records.",
        "It is not an upper bound: a better attack, or more shadow models, could find more. "
        f"Compare it with other audits at the same number of models only (here {num_models:,}).",
        "A figure near chance is no proof of privacy. Only a defence with a proven guarantee "
        "gives one.",
        "It says nothing about models trained on other data or with other settings.",
    ]


def accuracy_line(train: Any, test: Any) -> str:
    """'train 91.2%, test 85.3% (mean of 128 models)', or '' when no accuracy is known."""
    import numpy as np

    if not np.isfinite(test).any():
        return ""
    known = int(np.isfinite(test).sum())
    mean_train, mean_test = float(np.nanmean(train)), float(np.nanmean(test))
    return (
        f"test {percent(mean_test)}, train {percent(mean_train)} "
        f"(mean of {known:,} model{'s' if known != 1 else ''})"
    )


def epsilon_line(measured: float, claimed: float | None) -> str:
    """What was measured of ε and how it stands to the claim; '' when nothing was measured."""
    if not math.isfinite(measured):
        return ""
    found = (
        f"at least {measured:.3g} (95% confidence)"
        if measured > 0
        else "no leak shown at 95% confidence (lower bound 0)"
    )
    if claimed is None:
        return found
    verdict = "the claim is refuted" if measured > claimed else "the claim is not refuted"
    return f"{found}; claimed {claimed:.3g}: {verdict}"


def selection_line(selection: Any) -> str:
    """The named model's selection, then what selection achieves over all models."""
    named, chosen = selection.named, selection.selection
    count = int(chosen.indices.size)
    line = (
        f"{count:,} of {chosen.num_candidates:,} candidates of model {selection.target} named "
        f"at a false discovery rate of {level(chosen.alpha)}"
    )
    if count:
        line += f", {percent(named.false_discovery_proportion)} of them wrongly"
    curve = selection_curve(selection)
    if curve is None:
        return line
    return (
        f"{line}; over {selection.num_targets:,} models {percent(curve.fdr)} wrong and "
        f"{percent(curve.power)} of the members found"
    )


def selection_curve(selection: Any) -> Any | None:
    """The averages of the chosen estimator (the first among the curves) at the chosen level."""
    first = selection.curves[0].estimator if selection.curves else ""
    return next(
        (
            c
            for c in selection.curves
            if c.estimator == first and math.isclose(c.alpha, selection.selection.alpha)
        ),
        None,
    )
