"""What changes with the number of models, and with the level a selection is asked for."""

from typing import Any

from mia_audit.report.labels import HEADLINE, QUIET, label_of
from mia_audit.report.style import new_figure, percent_axis, to_png
from mia_audit.report.words import level
from mia_audit.stats.convergence import ConvergencePoint
from mia_audit.stats.ptdi_audit import SelectionCurve

_SHOWN = {
    HEADLINE: "Calibrated",
    "naive": "Naive LiRA",
    "post_student_t_exact": "Exact Student-t",
    "post_normal": "Normal",
    "per_record": "Per record",
}
_ESTIMATORS = {
    "subtraction": ("#0072B2", "Subtraction"),
    "storey": ("#009E73", "Storey"),
    "none": (QUIET, "No scaling (BH)"),
    "jkbb": ("#E69F00", "Jackknife beta"),
    "moment": ("#B5548F", "Moment"),
}


def draw_convergence(points: list[ConvergencePoint]) -> bytes:
    """TPR (above) and achieved FPR over the level (below) against M, one column a level."""
    alphas = sorted({p.alpha for p in points}, reverse=True)[:3]
    figure = new_figure(4.7)
    grid = figure.subplots(2, len(alphas), sharex=True, squeeze=False,
                           height_ratios=(1.5, 1))  # fmt: skip
    figure.subplots_adjust(left=0.09, right=0.985, bottom=0.19, top=0.93, wspace=0.24, hspace=0.14)
    for (above, below), alpha in zip(grid.T, alphas, strict=True):
        for method in reversed(_SHOWN):
            chosen = [p for p in points if (p.method, p.alpha) == (method, alpha)]
            _draw_series(above, chosen, method, "tpr")
            if method != "per_record":
                _draw_series(below, chosen, method, "fpr")
        above.set_title(f"At {level(alpha)} FPR")
        _finish(above, below, sorted({p.num_models for p in points}))
    grid[0, 0].set_ylabel("True-positive rate")
    grid[1, 0].set_ylabel("FPR over level")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="lower center", ncols=6,
                  columnspacing=1.4)  # fmt: skip
    return to_png(figure)


def _draw_series(axes: Any, points: list[ConvergencePoint], method: str, field: str) -> None:
    scale = 1.0 if field == "tpr" else points[0].alpha if points else 1.0
    dashed = method == "per_record"
    axes.plot(
        [p.num_models for p in points],
        [getattr(p, field) / scale for p in points],
        color=label_of(method).colour,
        linewidth=2.2 if method == HEADLINE else 1.5,
        linestyle=(0, (2, 2)) if dashed else "-",
        marker="o",
        markersize=3.5,
        label=_SHOWN[method],
        zorder=4 if method == HEADLINE else 3,
    )


def _finish(above: Any, below: Any, sizes: list[int]) -> None:
    from matplotlib.ticker import NullLocator

    below.axhline(1, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    above.set_ylim(0, None)
    below.set_yscale("log", base=2)
    below.set_ylim(0.6, max(2.2, below.get_ylim()[1]))
    below.yaxis.set_minor_locator(NullLocator())
    below.yaxis.set_major_formatter(lambda value, _position: f"{value:g}×")
    percent_axis(above.yaxis)
    for axes in (above, below):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(sizes[-6:], [f"{size:,}" for size in sizes[-6:]])
    below.set_xlabel("Models")


def draw_selection(curves: list[SelectionCurve]) -> bytes:
    """Realised FDR (left, with the promise as a diagonal) and power (middle) against the level;
    the estimated share of non-members beside the true one (right).

    The first estimator among `curves` is the one chosen; its 95% band over targets is drawn.
    """
    names = list(dict.fromkeys(curve.estimator for curve in curves))
    figure = new_figure(3.4)
    left, right, shares = figure.subplots(1, 3, width_ratios=(3, 3, 1.6))
    figure.subplots_adjust(left=0.075, right=0.985, bottom=0.155, top=0.9, wspace=0.3)
    end = max(curve.alpha for curve in curves)
    left.plot([0, end], [0, end], color=QUIET, linewidth=1, linestyle=(0, (4, 3)),
              label="Promised at most")  # fmt: skip
    for axes, field, title in (
        (left, "fdr", "Wrong among those selected"),
        (right, "power", "Members found"),
    ):
        for name in reversed(names):
            _draw_estimator(
                axes, [c for c in curves if c.estimator == name], field, name == names[0]
            )
        axes.set_title(title)
        axes.set_xlabel("False discovery rate asked for")
        percent_axis(axes.xaxis)
        percent_axis(axes.yaxis)
        axes.set(xlim=(0, end * 1.02), ylim=(0, None))
    left.legend(loc="upper left", borderaxespad=0)
    _draw_shares(shares, [next(c for c in curves if c.estimator == name) for name in names])
    return to_png(figure)


def _draw_shares(axes: Any, curves: list[SelectionCurve]) -> None:
    """π̂₀ of each estimator with its 95% limits, and the truth as a line."""
    axes.axhline(curves[0].share_truth, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate("true", (len(curves) - 0.55, curves[0].share_truth), ha="right", va="bottom",
                  color=QUIET)  # fmt: skip
    for place, curve in enumerate(curves):
        colour, _ = _ESTIMATORS.get(curve.estimator, (QUIET, curve.estimator))
        reach = [[curve.share_estimate - curve.share_lower],
                 [curve.share_upper - curve.share_estimate]]  # fmt: skip
        axes.errorbar([place], [curve.share_estimate], yerr=reach, color=colour, marker="o",
                      markersize=4, capsize=3)  # fmt: skip
    axes.set(xlim=(-0.5, len(curves) - 0.5), ylim=(0, None), xticks=[],
             title="Not members", xlabel="As estimated")  # fmt: skip
    percent_axis(axes.yaxis)


def _draw_estimator(axes: Any, curves: list[SelectionCurve], field: str, is_chosen: bool) -> None:
    levels = [c.alpha for c in curves]
    colour, name = _ESTIMATORS.get(curves[0].estimator, (QUIET, curves[0].estimator))
    axes.plot(levels, [getattr(c, field) for c in curves], color=colour, marker="o",
              markersize=4 if is_chosen else 3, linewidth=2.2 if is_chosen else 1.3,
              label=name, zorder=4 if is_chosen else 3)  # fmt: skip
    if is_chosen:
        lower, upper = (
            [getattr(c, f"{field}_{side}") for c in curves] for side in ("lower", "upper")
        )
        axes.fill_between(levels, lower, upper, color=colour, alpha=0.15, linewidth=0)
