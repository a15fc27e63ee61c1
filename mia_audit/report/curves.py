"""The ROC of an audit on logarithmic axes, and the quantiles of its non-member scores."""

from typing import Any

import numpy as np
import scipy

from mia_audit.report.labels import HEADLINE, INK, NON_MEMBER_COLOUR, QUIET, MethodLabel, label_of
from mia_audit.report.style import decades, new_figure, percent_axis, to_png
from mia_audit.report.words import level
from mia_audit.stats.evaluation import Evaluation
from mia_audit.stats.normality import Normality

_DASHED = (0, (2, 2))


def draw_roc(evaluation: Evaluation, attack: str) -> bytes:
    """Log–log ROC from 1/(number of non-member scores) on, with 95% intervals at the levels.

    Drawn: the calibrated and the naive curve, the points of the chosen attack, the per-record
    reference (dashed), guessing.
    """
    figure = new_figure(4.9)
    axes = figure.add_axes((0.1, 0.115, 0.72, 0.865))
    floor = 1 / max(2, int(evaluation.records["n_out"].sum()))
    axes.plot([floor, 1], [floor, 1], color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
    legend: list[tuple[str, str]] = []
    lowest = min(evaluation.alphas)
    curves = (
        ("naive", evaluation.roc_naive, "Naive LiRA"),
        (HEADLINE, evaluation.roc, "Calibrated"),
    )
    for method, roc, name in curves:
        look, shown = label_of(method), (roc.fpr > 0) & (roc.tpr > 0)
        axes.plot(
            roc.fpr[shown], roc.tpr[shown], color=look.colour, zorder=4 if method == HEADLINE else 3
        )
        lowest = min(lowest, float(roc.tpr[shown][0]))
        _draw_points(axes, evaluation, method, look)
        legend.insert(0, (look.colour, f"{name}\nAUC {roc.auc:.3f}"))
    if _draw_points(axes, evaluation, "attack", label_of("attack")):
        legend.append((label_of("attack").colour, f"Chosen attack\n{attack}"))
    if _draw_points(axes, evaluation, "per_record", label_of("per_record"), linestyle=_DASHED):
        noisy = ", noisy" if _is_noisy(evaluation) else ""
        legend.append((label_of("per_record").colour, f"Per record\n(reference{noisy})"))
    axes.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(lowest / 3, 1.3))
    _finish(axes, [*legend, (QUIET, "Guessing")])
    return to_png(figure)


def _is_noisy(evaluation: Evaluation) -> bool:
    """Whether a per-record point is drawn that has fewer than 10/α models."""
    shown = [p for p in evaluation.points if p.method == "per_record" and p.tpr > 0]
    return any(evaluation.num_models < 10 / p.alpha * (1 - 1e-9) for p in shown)


def _draw_points(
    axes: Any, evaluation: Evaluation, method: str, look: MethodLabel, linestyle: Any = "none"
) -> bool:
    """The points of a method that have a number, with their intervals; False if there are none."""
    points = [p for p in evaluation.points if p.method == method and p.tpr > 0]
    points.sort(key=lambda p: p.fpr)
    axes.plot([p.fpr for p in points], [p.tpr for p in points], look.marker, color=look.colour,
              markersize=6, markeredgecolor=look.colour if look.marker in "x+" else "white",
              linestyle=linestyle, linewidth=1.1, zorder=5)  # fmt: skip
    for point in points:
        if np.isfinite(point.lower):
            axes.plot([point.fpr] * 2, [point.lower, point.upper], color=look.colour,
                      linewidth=2.4, alpha=0.6, zorder=4)  # fmt: skip
    return bool(points)


def _finish(axes: Any, legend: list[tuple[str, str]]) -> None:
    """Axes in powers of ten; names at the right edge, tied to the curves by colour."""
    for axis in (axes.xaxis, axes.yaxis):
        decades(axis)
        percent_axis(axis)
    axes.set_xlabel("False-positive rate")
    axes.set_ylabel("True-positive rate")
    for i, (colour, text) in enumerate(legend):
        axes.annotate(text, (1, 0.97 - 0.115 * i), xycoords="axes fraction", xytext=(14, 0),
                      textcoords="offset points", color=colour, va="top", linespacing=1.35,
                      annotation_clip=False)  # fmt: skip


def draw_quantiles(normality: Normality) -> bytes:
    """Upper quantiles of the non-member scores against those of a normal distribution."""
    expected, observed = normality.expected, normality.observed
    figure = new_figure(3.7)
    axes = figure.add_axes((0.1, 0.155, 0.72, 0.82))
    ends = [float(np.nanmin(expected)), float(np.nanmax(expected))]
    axes.plot(ends, ends, color=INK, linewidth=1.1, linestyle=_DASHED)
    axes.plot(expected, observed, color=NON_MEMBER_COLOUR, marker="o", markersize=4)
    last = int(np.flatnonzero(np.isfinite(observed)).max(initial=0))
    normal = scipy.stats.norm
    shares = [a for a in (0.5, 0.1, 0.01, 0.001, 0.0001) if ends[0] <= normal.isf(a) <= ends[1]]
    axes.set_xticks(normal.isf(shares), [f"highest\n{level(a)}" for a in shares])
    axes.set_xlabel("Non-member scores, in the order of a normal distribution")
    axes.set_ylabel("Quantile observed")
    for end, text, colour in (
        ((float(expected[last]), float(observed[last])), "Observed", NON_MEMBER_COLOUR),
        ((ends[1], ends[1]), "Normal", INK),
    ):
        axes.annotate(text, end, xytext=(12, 0), textcoords="offset points",
                      color=colour, va="center", annotation_clip=False)  # fmt: skip
    return to_png(figure)
