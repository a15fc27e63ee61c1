"""The look of every figure: one set of rules, no global state left behind."""

import io
from typing import Any

from mia_audit.report.labels import FAINT, INK, QUIET

DPI = 200
WIDTH = 7.2
_FONTS = ("Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans")


def rules() -> Any:
    """Settings for `matplotlib.rc_context`."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return {
        "font.family": [*[name for name in _FONTS if name in installed][:1], "DejaVu Sans"],
        "font.size": 9.5,
        "text.color": INK,
        "text.parse_math": False,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": QUIET,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 10,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#eceef1",
        "grid.linewidth": 0.7,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "lines.linewidth": 1.8,
        "lines.solid_capstyle": "round",
        "legend.frameon": False,
        "legend.fontsize": 9,
        "legend.handlelength": 1.6,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
    }


def new_figure(height: float = 3.9, width: float = WIDTH) -> Any:
    """An empty figure of `width` × `height` inches with an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def to_png(figure: Any) -> bytes:
    """The figure as PNG bytes at twice the usual resolution."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def percent_axis(axis: Any) -> None:
    """Show the ticks of an axis as percentages: 0.01 -> 1%."""
    axis.set_major_formatter(lambda value, _position: f"{100 * value:.6g}%")


def decades(axis: Any) -> None:
    """One tick a power of ten on a logarithmic axis, none between."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_minor_locator(NullLocator())


def rule_of(axes: Any, value: float, text: str, *, colour: str = FAINT) -> None:
    """A thin vertical line at `value` with its name at the top edge."""
    axes.axvline(value, color=colour, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        text,
        (value, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3),
        textcoords="offset points",
        color=QUIET,
        fontsize=8.5,
        va="top",
    )
