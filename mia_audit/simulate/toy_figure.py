"""The picture of the toy: every rule's rates against the number of models."""

from __future__ import annotations

from typing import Any

from mia_audit.report.labels import ESTIMATED, INK, label_of
from mia_audit.report.style import new_figure, percent_axis, rules, to_png
from mia_audit.report.words import level
from mia_audit.simulate.toy import ALPHA, MethodRate, MethodsFound


def draw_methods(found: MethodsFound) -> bytes:
    """PNG: TPR (left, the exact value as a line) and achieved FPR (right, the level as a line)."""
    import matplotlib

    with matplotlib.rc_context(rules()):
        figure = new_figure(4.9)
        left, right = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.085, right=0.985, bottom=0.3, top=0.93, wspace=0.22)
        methods = dict.fromkeys(rate.method for rate in found.rates)
        for method in methods:
            chosen = [rate for rate in found.rates if rate.method == method]
            _draw(left, chosen, "tpr")
            _draw(right, chosen, "fpr")
        left.axhline(found.exact, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1,
                     label=f"Exact ({100 * found.exact:.2f}%)")  # fmt: skip
        right.axhline(ALPHA, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        sizes = sorted({rate.num_models for rate in found.rates})
        _finish(left, f"TPR at {level(ALPHA)} FPR", sizes)
        _finish(right, "FPR achieved", sizes)
        figure.legend(*left.get_legend_handles_labels(), loc="lower center", ncols=4,
                      columnspacing=1.3)  # fmt: skip
        return to_png(figure)


def _draw(axes: Any, rates: list[MethodRate], field: str) -> None:
    """One rule: a line with its tolerance as bars; dashed for the estimated direction."""
    label = label_of(rates[0].method)
    models = [rate.num_models for rate in rates]
    values = [getattr(rate, field) for rate in rates]
    error = [getattr(rate, f"{field}_tolerance") for rate in rates]
    line = (0, (2, 2)) if rates[0].method.endswith(ESTIMATED) else "-"
    axes.plot(models, values, color=label.colour, label=label.title, marker=label.marker,
              markersize=3.5, linewidth=1.4, linestyle=line)  # fmt: skip
    axes.errorbar(models, values, yerr=error, fmt="none", ecolor=label.colour, elinewidth=0.8,
                  alpha=0.45)  # fmt: skip


def _finish(axes: Any, title: str, sizes: list[int]) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sizes[-7:], [f"{size:,}" for size in sizes[-7:]])
    axes.set(title=title, xlabel="Models", ylim=(0, None))
    percent_axis(axes.yaxis)
