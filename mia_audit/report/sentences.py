"""What the numbers of an audit mean, in plain sentences; the page and the terminal share them."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.report.labels import HEADLINE
from mia_audit.report.words import MISSING, interval, level, percent, places
from mia_audit.stats.evaluation import OperatingPoint

if TYPE_CHECKING:
    from mia_audit.stats.population import NoiseEstimate
    from mia_audit.stats.ptdi_audit import SelectionAudit, SelectionCurve
    from mia_audit.stats.ptdi_target import TargetSelection

_PREFERRED_LEVEL = 0.01


@dataclass(frozen=True)
class Headline:
    """The one sentence of an audit in parts: before, figure, range, after, comparison."""

    before: str
    figure: str
    range: str
    after: str
    comparison: str
    point: OperatingPoint | None

    def __str__(self) -> str:
        parts = (self.before, self.figure, self.range, self.after)
        sentence = " ".join(part for part in parts if part)
        return f"{sentence} – {self.comparison}." if self.comparison else f"{sentence}."


def headline_point(points: list[OperatingPoint]) -> OperatingPoint | None:
    """The point to lead with: `post_empirical` at 1%, else at the nearest level with an interval.

    Without any interval the nearest level with a number; None without numbers.
    """
    known = [p for p in points if p.method == HEADLINE and math.isfinite(p.tpr)]
    usable = [p for p in known if math.isfinite(p.lower)] or known
    distance = math.log(_PREFERRED_LEVEL)
    return min(usable, key=lambda p: abs(math.log(p.alpha) - distance), default=None)


def headline(points: list[OperatingPoint]) -> Headline:
    """What the audit found, in plain words."""
    point = headline_point(points)
    if point is None:
        return Headline(
            "There are too few models or records for a calibrated answer", "", "", "", "", None
        )
    decimals = max(1, places(point.tpr))
    bounds = interval(point.lower, point.upper, decimals)
    return Headline(
        f"At a false-positive rate of {level(point.alpha)} on every record, an attacker finds",
        percent(point.tpr, decimals),
        "" if bounds == MISSING else bounds,
        "of the training records",
        _comparison(point) + _elsewhere(point, points),
        point,
    )


def _elsewhere(headline: OperatingPoint, points: list[OperatingPoint]) -> str:
    """Where the headline shows no leak, the lowest other level of its method that does; or ''."""
    if not headline.lower <= headline.alpha:
        return ""
    shown = [p for p in points if p.method == headline.method and p.lower > p.alpha]
    if not shown:
        return ""
    best = min(shown, key=lambda p: p.alpha)
    bounds = interval(best.lower, best.upper, 1)
    return f"; but at {level(best.alpha)} the attacker finds {percent(best.tpr)} {bounds}"


def _comparison(point: OperatingPoint) -> str:
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
    return f"not distinguishable from the {level(point.alpha)} that guessing finds"


def what_it_means(point: OperatingPoint, *, num_models: int) -> list[str]:
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


def accuracy_line(train: np.ndarray, test: np.ndarray) -> str:
    """'train 91.2%, test 85.3% (mean of 128 models)', or '' when no accuracy is known."""
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


def population_line(points: list[OperatingPoint], noise: "NoiseEstimate | None" = None) -> str:
    """'4.5% at 1%, 1.2% at 0.1%: …' of the mean true-positive rates for the population, or ''."""
    rates = ", ".join(f"{percent(p.tpr)} at {level(p.alpha)}" for p in points)
    if not rates:
        return ""
    shares = "" if noise is None else f"; training noise {_shares(noise)}"
    return f"{rates} (TPR at FPR, training sets drawn afresh{shares})"


def noise_sentence(noise: "NoiseEstimate | None") -> str:
    """How much of the scores' variance was left uncorrected, and how that is known."""
    if noise is None:
        return (
            "All of the scores’ variance is taken to come from the training sets; where training "
            "is itself random these figures read too low, and training some sets twice "
            "(population.noise=seeds) tells by how much."
        )
    return (
        f"Training itself (initialisation, order of batches) makes {_shares(noise)} of the scores’ "
        f"variance, estimated from {noise.source}; that part is left as it is."
    )


def _shares(noise: "NoiseEstimate") -> str:
    return f"{percent(noise.inside)} (members) and {percent(noise.outside)} (non-members)"


def named_line(named: "TargetSelection", model: str) -> str:
    """How many candidates of one model were named, at what level, and how many wrongly."""
    chosen = named.selection
    size = int(chosen.indices.size)
    line = (
        f"{size:,} of {chosen.num_candidates:,} candidates of {model} named at a false discovery "
        f"rate of {level(chosen.alpha)}"
    )
    return f"{line}, {percent(named.false_discovery_proportion)} of them wrongly" if size else line


def selection_line(selection: "SelectionAudit") -> str:
    """The named model's selection, then what selection achieves over all models."""
    line = named_line(selection.named, f"model {selection.target}")
    curve = selection_curve(selection)
    if curve is None:
        return line
    return (
        f"{line}; over {selection.num_targets:,} models {percent(curve.fdr)} wrong and "
        f"{percent(curve.power)} of the members found"
    )


def selection_curve(selection: "SelectionAudit") -> "SelectionCurve | None":
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
