"""The picture of a selection: p-values of the candidates, and the bound at every cut-off."""

from __future__ import annotations

from typing import Any

import numpy as np

from mia_audit.identify.cutoffs import CutOff
from mia_audit.identify.selecting import CONFIDENCE, Identified
from mia_audit.report.labels import MEMBER_COLOUR, NON_MEMBER_COLOUR, QUIET
from mia_audit.report.style import new_figure, percent_axis, rules, to_png
from mia_audit.report.words import level

_BINS = 20
_MOST_POINTS = 2_000
_HEADROOM = 1.3  # for the legends


def draw_identified(result: Identified, cutoffs: list[CutOff]) -> bytes:
    """PNG: p-values with the estimated non-members beneath (left), the bound (right)."""
    import matplotlib

    with matplotlib.rc_context(rules()):
        figure = new_figure(3.4)
        left, right = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.1, right=0.985, bottom=0.155, top=0.9, wspace=0.26)
        _draw_p_values(left, result)
        _draw_bounds(right, cutoffs)
        return to_png(figure)


def _draw_p_values(axes: Any, result: Identified) -> None:
    """Non-members are spread evenly over p; members pile up at the left."""
    p_values = result.selection.p_values
    counts, edges = np.histogram(p_values, bins=_BINS, range=(0, 1))
    axes.bar(edges[:-1], counts, width=1 / _BINS, align="edge", color=MEMBER_COLOUR, alpha=0.55,
             linewidth=0, label="Candidates", zorder=2)  # fmt: skip
    share = min(1.0, result.selection.non_member_share)
    axes.axhline(share * p_values.size / _BINS, color=NON_MEMBER_COLOUR, linewidth=1.6,
                 linestyle=(0, (4, 3)), label="Not trained on, estimated", zorder=3)  # fmt: skip
    top = _HEADROOM * max(counts.max(), share * p_values.size / _BINS)
    axes.set(
        xlim=(0, 1),
        ylim=(0, top),
        title="p-values of the candidates",
        xlabel="p-value",
        ylabel="Candidates",
    )
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
    axes.legend(loc="upper right", borderaxespad=0)


def _draw_bounds(axes: Any, cutoffs: list[CutOff]) -> None:
    from matplotlib.ticker import NullLocator

    called = np.array([cut.called for cut in cutoffs])
    bounds = np.array([cut.bound for cut in cutoffs])
    kept = np.unique(np.linspace(0, called.size - 1, min(called.size, _MOST_POINTS)).astype(int))
    axes.plot(called[kept], bounds[kept], color=MEMBER_COLOUR, drawstyle="steps-post",
              label=f"At most wrong ({level(CONFIDENCE)} sure)")  # fmt: skip
    for cut in cutoffs:
        if cut.is_selection:
            axes.plot([cut.called], [cut.bound], "o", color=MEMBER_COLOUR, markersize=6,
                      label="The selection", zorder=4)  # fmt: skip
    axes.set_xscale("log")
    axes.set(
        ylim=(0, _HEADROOM),
        yticks=np.linspace(0, 1, 6),
        title="If the best were called",
        xlabel="Candidates called",
    )
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    percent_axis(axes.yaxis)
    axes.tick_params(colors=QUIET)
    axes.legend(loc="upper left", borderaxespad=0)
