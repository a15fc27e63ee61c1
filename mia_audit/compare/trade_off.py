"""Privacy against utility: a point a defence, error bars both ways, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mia_audit.compare.comparison import Comparison
from mia_audit.compare.pareto import pareto_front
from mia_audit.report.labels import QUIET
from mia_audit.report.style import new_figure, percent_axis, to_png
from mia_audit.report.words import level

_LINE = 0.165  # inches between names at the right edge


def front_of(comparison: Comparison) -> np.ndarray:
    """bool [D]: the rows on the Pareto front of test accuracy and TPR at the lead level."""
    alpha = comparison.lead_alpha
    return pareto_front(
        np.array([row.test_accuracy[0] for row in comparison.rows]),
        np.array([row.level(alpha).point.tpr for row in comparison.rows]),
    )


def draw_trade_off(comparison: Comparison, colours: Sequence[str]) -> bytes:
    """Test accuracy against TPR at the lead level; full points are on the front."""
    alpha, rows = comparison.lead_alpha, comparison.rows
    figure = new_figure(max(4.3, 1.2 + _LINE * len(rows)))
    height = figure.get_figheight()
    width = min(0.7, 0.87 - 0.009 * max(len(row.label) for row in rows))  # the rest is for names
    axes = figure.add_axes((0.095, 0.52 / height, width, 1 - 0.66 / height))
    accuracy = np.array([row.test_accuracy for row in rows])
    rates = np.array([_rate(row.level(alpha)) for row in rows])
    front = front_of(comparison)
    _draw_front(axes, accuracy[front, 0], rates[front, 0])
    for i, colour in enumerate(colours):
        look = {"color": colour, "linewidth": 1.4, "alpha": 0.6}
        axes.hlines(rates[i, 0], accuracy[i, 1], accuracy[i, 2], **look)
        axes.vlines(accuracy[i, 0], rates[i, 1], rates[i, 2], **look)
        axes.plot(
            accuracy[i, 0],
            rates[i, 0],
            "o",
            color=colour if front[i] else "white",
            markeredgecolor=colour,
            markeredgewidth=1.6,
            markersize=6.5,
            zorder=5,
        )
    axes.axhline(alpha, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_ylim(0, None)
    axes.margins(x=0.08)
    axes.set_xlabel("Test accuracy")
    axes.set_ylabel(f"True-positive rate at {level(alpha)} FPR")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.annotate("guessing", (1, alpha), xycoords=("axes fraction", "data"), xytext=(-3, -4),
                  textcoords="offset points", color=QUIET, fontsize=8.5, ha="right",
                  va="top")  # fmt: skip
    _name_points(axes, [row.label for row in rows], accuracy[:, 0], rates[:, 0], colours)
    return to_png(figure)


def _rate(found: Any) -> tuple[float, float, float]:
    return found.point.tpr, found.point.lower, found.point.upper


def _draw_front(axes: Any, accuracy: np.ndarray, rates: np.ndarray) -> None:
    """Steps: between two points of the front nothing better than the worse of both is known."""
    order = np.argsort(accuracy)
    axes.step(accuracy[order], rates[order], where="pre", color=QUIET, linewidth=1, zorder=2)


def _name_points(
    axes: Any, names: Sequence[str], x: np.ndarray, y: np.ndarray, colours: Sequence[str]
) -> None:
    """Names at the right edge in the order of the points' heights, each tied to its point."""
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    bottom, top = axes.get_ylim()
    height = axes.get_position().height * axes.figure.get_figheight()
    wanted = (y[known] - bottom) / (top - bottom)
    order = known[np.argsort(wanted, kind="stable")]
    places = spread_apart(np.sort(wanted, kind="stable"), _LINE / height)
    for i, place in zip(order, places, strict=True):
        axes.annotate(
            names[i], (x[i], y[i]), xytext=(1.04, place), textcoords="axes fraction",
            va="center", color=colours[i], fontsize=8.5, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colours[i], "alpha": 0.35, "linewidth": 0.7,
                        "shrinkA": 2, "shrinkB": 4},
        )  # fmt: skip


def spread_apart(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Rising places near the rising `wanted`, at least `gap` apart, within [0, 1] if they fit."""
    places = wanted.astype(float).copy()
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + gap)
    over = places[-1] - 1 if len(places) else 0.0
    if over > 0:
        places[-1] -= over
        for i in range(len(places) - 2, -1, -1):
            places[i] = min(places[i], places[i + 1] - gap)
    return places
