"""The pictures of the ablation: false discoveries and power of every estimator."""

from __future__ import annotations

from typing import Any

from mia_audit.report.labels import INK, QUIET
from mia_audit.report.style import new_figure, percent_axis, rules, to_png
from mia_audit.simulate.ptdi_ablation import MEMBER_SHARES, AblationRow

# Subtraction from light to dark with η; the others as in an audit's report.
_LOOKS = {
    "subtraction η=0.01": ("Subtraction, η = 0.01", "#9ecae1", "o"),
    "subtraction η=0.05": ("Subtraction, η = 0.05", "#0072B2", "o"),
    "subtraction η=0.1": ("Subtraction, η = 0.1", "#08519c", "v"),
    "subtraction η=0.5": ("Subtraction, η = 0.5", "#08306b", "^"),
    "storey": ("Storey", "#009E73", "s"),
    "moment": ("Moment", "#B5548F", "D"),
    "none": ("No scaling (BH)", QUIET, "x"),
}


def draw_ablation(rows: list[AblationRow], alpha: float) -> bytes:
    """PNG: realised FDR (above; the level as a line) and power (below) over n/m, a column a π."""
    import matplotlib

    with matplotlib.rc_context(rules()):
        figure = new_figure(5.6)
        grid = figure.subplots(2, len(MEMBER_SHARES), sharex=True, sharey="row")
        figure.subplots_adjust(left=0.085, right=0.985, bottom=0.2, top=0.94, wspace=0.1,
                               hspace=0.13)  # fmt: skip
        for (above, below), share in zip(grid.T, MEMBER_SHARES, strict=True):
            for name in dict.fromkeys(row.estimator for row in rows):
                chosen = [r for r in rows if (r.estimator, r.member_share) == (name, share)]
                _draw(above, chosen, "fdr")
                _draw(below, chosen, "power")
            above.axhline(alpha, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            above.set(title=f"Members {100 * share:g}% of candidates")
            below.set(xlabel="Calibration scores / candidates")
        for axes, label in ((grid[0, 0], "False-discovery rate"), (grid[1, 0], "Members found")):
            axes.set(ylabel=label, ylim=(0, None))
            percent_axis(axes.yaxis)
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="lower center", ncols=4,
                      columnspacing=1.6)  # fmt: skip
        return to_png(figure)


def _draw(axes: Any, rows: list[AblationRow], field: str) -> None:
    """One estimator with its tolerance as bars."""
    name, colour, marker = _LOOKS[rows[0].estimator]
    ratios = [row.ratio for row in rows]
    values = [getattr(row, field) for row in rows]
    error = [getattr(row, f"{field}_tolerance") for row in rows]
    axes.plot(ratios, values, color=colour, marker=marker, markersize=3.5, linewidth=1.4,
              label=name)  # fmt: skip
    axes.errorbar(ratios, values, yerr=error, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45)
