"""The most exposed records, ranked on one half of the models and measured on the other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.report.labels import HEADLINE, INK, QUIET, label_of
from mia_audit.report.style import new_figure, percent_axis, to_png
from mia_audit.report.words import level

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class ExposedTable:
    """The records shown, at one level: names [R] and measured TPR with limits, each [R]."""

    alpha: float
    names: list[str]
    tpr: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def exposed_table(result: "AuditResult") -> ExposedTable | None:
    """The first records of the evaluation's `exposed` at the level nearest 1%; None without any."""
    columns = {name: np.asarray(values) for name, values in result.evaluation.exposed.items()}
    if columns["record"].size == 0:
        return None
    alpha = min(np.unique(columns["alpha"]), key=lambda a: abs(np.log(a / 0.01)))
    chosen = np.flatnonzero((columns["alpha"] == alpha) & np.isfinite(columns["tpr"]))[:_SHOWN]
    if chosen.size == 0:
        return None
    names = [str(result.record_ids[column]) for column in columns["record"][chosen].astype(int)]
    return ExposedTable(
        float(alpha), names, *(columns[n][chosen] for n in ("tpr", "lower", "upper"))
    )


def draw_exposed(table: ExposedTable) -> bytes:
    """A dot and its interval for each record, in the order of the ranking."""
    names, alpha = table.names, table.alpha
    figure = new_figure(0.9 + 0.21 * len(names))
    bottom = 0.52 / figure.get_figheight()
    axes = figure.add_axes((0.12, bottom, 0.85, 0.97 - bottom))
    heights = np.arange(len(names))
    colour = label_of(HEADLINE).colour
    axes.hlines(heights, table.lower, table.upper, color=colour, alpha=0.35, linewidth=3)
    axes.plot(
        table.tpr,
        heights,
        "o",
        color=colour,
        markersize=5,
        markeredgecolor="white",
        clip_on=False,
        zorder=5,
    )
    axes.axvline(alpha, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate("guessing", (alpha, len(names) + 0.35), xytext=(4, 0), va="bottom",
                  textcoords="offset points", color=QUIET, fontsize=8.5)  # fmt: skip
    axes.set(ylim=(len(names) + 0.45, -0.7), yticks=heights, yticklabels=names, xlim=(0, 1))
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=8.5)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("Row in the data set", color=QUIET)
    axes.set_xlabel(f"True-positive rate at a false-positive rate of {level(alpha)}")
    percent_axis(axes.xaxis)
    return to_png(figure)
