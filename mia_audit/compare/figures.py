"""The pictures of a comparison: trade-off, rates with intervals, differences, single records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mia_audit.compare.comparison import Comparison, Row
from mia_audit.compare.entries import REFERENCE
from mia_audit.compare.trade_off import draw_trade_off
from mia_audit.report.labels import INK, QUIET
from mia_audit.report.style import new_figure, percent_axis, rules, to_png
from mia_audit.report.words import level

_COLUMNS = 3  # levels side by side
_ROW = 0.27  # inches
_GUESSING = (0, (4, 3))
_PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#B5548F",
    "#E69F00",
    "#6A4FB3",
    "#3F9FD8",
    "#7A9A01",
    "#8C6D31",
    "#5F6773",
)


def draw_comparison(comparison: Comparison) -> dict[str, bytes]:
    """PNG bytes by name: trade_off, rates, differences, records; one with nothing is left out."""
    import matplotlib

    colours = colours_of(comparison.rows)
    figures = {}
    with matplotlib.rc_context(rules()):
        if np.isfinite([row.test_accuracy[0] for row in comparison.rows]).any():
            figures["trade_off"] = draw_trade_off(comparison, colours)
        figures["rates"] = _draw_rates(comparison, colours)
        if len(comparison.rows) > 1:
            figures["differences"] = _draw_differences(comparison, colours)
        figures["records"] = _draw_records(comparison, colours)
    return figures


def colours_of(rows: Sequence[Row]) -> list[str]:
    """A colour a row: the reference in ink, one for each kind of defence whatever its setting."""
    kinds = list(dict.fromkeys(row.label.partition("(")[0] for row in rows))
    kinds = [kind for kind in kinds if kind != REFERENCE]
    table = {kind: _PALETTE[i % len(_PALETTE)] for i, kind in enumerate(kinds)}
    return [table.get(row.label.partition("(")[0], INK) for row in rows]


def _draw_rates(comparison: Comparison, colours: Sequence[str]) -> bytes:
    """TPR with its interval: a row a defence, a column a level."""
    rows, alphas = comparison.rows, comparison.alphas[:_COLUMNS]
    figure, columns = _row_axes(rows, len(alphas))
    for axes, alpha in zip(columns, alphas, strict=True):
        for y, (row, colour) in enumerate(zip(rows, colours, strict=True)):
            point = row.level(alpha).point
            axes.hlines(y, point.lower, point.upper, color=colour, alpha=0.4, linewidth=3)
            _dot(axes, point.tpr, y, colour)
        bare = comparison.reference.level(alpha).point.tpr
        axes.axvline(bare, color=INK, linewidth=0.8, alpha=0.5, zorder=1)
        axes.axvline(alpha, color=QUIET, linewidth=1, linestyle=_GUESSING, zorder=1)
        axes.set_title(f"At {level(alpha)} FPR")
        axes.set_xlim(0, None)
        percent_axis(axes.xaxis)
    _name_axis(figure, "True-positive rate")
    return to_png(figure)


def _draw_differences(comparison: Comparison, colours: Sequence[str]) -> bytes:
    """Difference of the TPR to none: the interval, and behind it the one without pairing."""
    rows, alphas = comparison.rows[1:], comparison.alphas[:_COLUMNS]
    figure, columns = _row_axes(rows, len(alphas))
    for axes, alpha in zip(columns, alphas, strict=True):
        for y, (row, colour) in enumerate(zip(rows, colours[1:], strict=True)):
            found, loose = row.level(alpha).difference, row.level(alpha).unpaired
            assert found is not None
            assert loose is not None
            axes.hlines(y, loose.lower, loose.upper, color=QUIET, alpha=0.55, linewidth=1)
            axes.hlines(y, found.lower, found.upper, color=colour, alpha=0.4, linewidth=4)
            _dot(axes, found.difference, y, colour)
        axes.axvline(0, color=INK, linewidth=0.8, alpha=0.5, zorder=1)
        axes.set_title(f"At {level(alpha)} FPR")
        axes.xaxis.set_major_formatter(
            lambda v, _p: f"{100 * v:+.3g}".replace("-", "−") if v else "0"
        )
    _name_axis(figure, "True-positive rate less that of none, percentage points")
    return to_png(figure)


def _draw_records(comparison: Comparison, colours: Sequence[str]) -> bytes:
    """Quantiles over records of the analytic TPR, and the most exposed as the other half sees them.

    Thin line: 1st to 99th percentile, thick: middle half, dot: median, diamond: most exposed.
    """
    alpha = comparison.lead_alpha
    figure, (axes,) = _row_axes(comparison.rows, 1, head=0.05)
    index = comparison.alphas.index(alpha)
    for y, (row, colour) in enumerate(zip(comparison.rows, colours, strict=True)):
        rates = row.result.evaluation.records["tpr"][index]
        rates = rates[np.isfinite(rates)]
        low, quarter, middle, three, high = np.percentile(rates, [1, 25, 50, 75, 99])
        axes.hlines(y, low, high, color=colour, linewidth=1.2)
        axes.hlines(y, quarter, three, color=colour, alpha=0.4, linewidth=5)
        _dot(axes, middle, y, colour)
        axes.plot(row.level(alpha).exposed_tpr, y, "D", color="white", markeredgecolor=colour,
                  markersize=5, markeredgewidth=1.4, zorder=6, clip_on=False)  # fmt: skip
    axes.axvline(alpha, color=QUIET, linewidth=1, linestyle=_GUESSING, zorder=1)
    axes.set_xlim(0, None)
    percent_axis(axes.xaxis)
    _name_axis(figure, f"True-positive rate of single records at {level(alpha)} FPR")
    return to_png(figure)


def _name_axis(figure: Any, text: str) -> None:
    """One name below all axes, centred on them and not on the names of the rows."""
    first, last = figure.axes[0].get_position(), figure.axes[-1].get_position()
    middle, bottom = (first.x0 + last.x1) / 2, 0.06 / figure.get_figheight()
    figure.text(middle, bottom, text, fontsize=9.5, color=QUIET, ha="center", va="bottom")


def _row_axes(rows: Sequence[Row], columns: int, *, head: float = 0.34) -> tuple[Any, list[Any]]:
    """A figure of `columns` axes that share the rows' names at the left edge.

    `head` is the room above them for titles, in inches.
    """
    figure = new_figure(0.8 + head + _ROW * len(rows))
    height = figure.get_figheight()
    longest = max(len(row.label) for row in rows)
    left = min(0.45, 0.03 + 0.0098 * longest)
    grid = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
    figure.subplots_adjust(left=left, right=0.975, bottom=0.54 / height, top=1 - head / height,
                           wspace=0.14)  # fmt: skip
    for axes in grid:
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=5 if columns > 1 else 10)
    grid[0].set(yticks=range(len(rows)), ylim=(len(rows) - 0.4, -0.6))
    grid[0].set_yticklabels([row.label for row in rows])
    return figure, list(grid)


def _dot(axes: Any, x: float, y: float, colour: str) -> None:
    axes.plot(x, y, "o", color=colour, markersize=6, markeredgecolor="white", clip_on=False,
              zorder=5)  # fmt: skip
