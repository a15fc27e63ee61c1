"""Distributions: false-positive rates of records, scores, accuracies of models."""

from typing import Any

import numpy as np
from scipy import stats

from mia_audit.report.labels import (
    HEADLINE,
    INK,
    MEMBER_COLOUR,
    NON_MEMBER_COLOUR,
    QUIET,
    label_of,
)
from mia_audit.report.style import decades, new_figure, percent_axis, rule_of, to_png
from mia_audit.report.words import level
from mia_audit.stats.evaluation import Evaluation


def draw_record_fpr(evaluation: Evaluation) -> bytes:
    """Histograms of FPR_x, naive against post-processed, one panel for each of two levels.

    The dashed curve is a beta distribution with mean α and the reference variance
    [α(1−α) − φ(z_α)²(1 + z_α²/2)]/n_x of perfectly calibrated records.
    """
    levels = sorted(range(len(evaluation.alphas)), key=lambda a: -evaluation.alphas[a])[:2]
    figure = new_figure(3.5)
    panels = figure.subplots(1, len(levels), squeeze=False)[0]
    figure.subplots_adjust(left=0.095, right=0.985, bottom=0.15, top=0.89, wspace=0.2)
    for axes, a in zip(panels, levels, strict=True):
        _draw_rates(axes, evaluation, a)
        axes.set_title(f"Asked for: {level(evaluation.alphas[a])}")
        axes.set_xlabel("False-positive rate of a record")
    panels[0].set_ylabel("Share of records")
    return to_png(figure)


def _draw_rates(axes: Any, evaluation: Evaluation, a: int) -> None:
    alpha, records = evaluation.alphas[a], evaluation.records
    trials = np.asarray(records["n_out"], dtype=float)
    rates = {"naive": records["fpr_naive"][a], HEADLINE: records["fpr"][a]}
    step = 1 / max(1.0, float(np.median(trials)))
    top = max(float(np.nanquantile(r, 0.999)) for r in rates.values())
    bins = np.arange(-0.5, max(top, 4 * alpha) / step + 2) * step
    stride = max(1, len(bins) // 40)
    bins = bins[::stride]
    for method, name in (("naive", "Naive"), (HEADLINE, "Calibrated")):
        rate = rates[method][np.isfinite(rates[method])]
        share = np.histogram(np.minimum(rate, bins[-1]), bins)[0] / max(1, rate.size)
        axes.stairs(share, bins, color=label_of(method).colour, linewidth=1.6, label=name)
        axes.stairs(share, bins, color=label_of(method).colour, alpha=0.12, fill=True)
    centres, share = (bins[1:] + bins[:-1]) / 2, calibrated_shares(bins, alpha, trials)
    shown = share > 0.1 / trials.size
    axes.plot(centres[shown], share[shown], color=INK, linewidth=1.1, linestyle=(0, (2, 2)),
              label="If calibrated")  # fmt: skip
    axes.set(yscale="log", xlim=(max(0, bins[0]), bins[-1]), ylim=(0.5 / trials.size, 1))
    decades(axes.yaxis)
    percent_axis(axes.yaxis)
    percent_axis(axes.xaxis)
    rule_of(axes, alpha, "")
    axes.legend(loc="upper right", borderaxespad=0)


def calibrated_shares(bins: np.ndarray, alpha: float, trials: np.ndarray) -> np.ndarray:
    """Expected share of records in each bin [B] if every record's rate is `alpha`; trials [N]."""
    z = stats.norm.isf(alpha)
    spread = alpha * (1 - alpha) - stats.norm.pdf(z) ** 2 * (1 + z**2 / 2)
    counts, weights = np.unique(np.maximum(trials, 1.0), return_counts=True)
    shape = alpha * (1 - alpha) * counts / spread - 1
    below = stats.beta.cdf(bins[:, None], alpha * shape, (1 - alpha) * shape)
    return np.diff(below @ (weights / weights.sum()))


def draw_densities(evaluation: Evaluation, cutoffs: dict[float, float]) -> bytes:
    """Densities of the standardised scores with the cut-off at each level (from its ROC)."""
    densities = evaluation.densities
    figure = new_figure(3.3)
    axes = figure.add_axes((0.035, 0.165, 0.945, 0.8))
    groups = (
        ("Non-members", densities.non_member, NON_MEMBER_COLOUR),
        ("Members", densities.member, MEMBER_COLOUR),
    )
    for name, density, colour in groups:
        axes.stairs(density, densities.edges, color=colour, linewidth=1.8, label=name)
        axes.stairs(density, densities.edges, color=colour, alpha=0.13, fill=True)
    for alpha, cutoff in cutoffs.items():
        rule_of(axes, cutoff, level(alpha), colour=QUIET)
    axes.set(yticks=[], xlim=(densities.edges[0], densities.edges[-1]), ylim=(0, None))
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.set_xlabel("Standardised score, in standard deviations of a record's non-member scores")
    axes.legend(loc="upper left", borderaxespad=0)
    return to_png(figure)


def draw_models_accuracy(train: np.ndarray, test: np.ndarray) -> bytes:
    """One dot a model: accuracy on its training records and on the others."""
    figure = new_figure(2.1)
    axes = figure.add_axes((0.13, 0.27, 0.84, 0.68))
    jitter = np.random.default_rng(0)
    rows = (("Training", train, MEMBER_COLOUR), ("Other records", test, NON_MEMBER_COLOUR))
    for height, (_name, values, colour) in enumerate(rows):
        values = values[np.isfinite(values)]
        offsets = jitter.uniform(-0.22, 0.22, values.size)
        axes.plot(values, height + offsets, "o", color=colour, markersize=3.4, alpha=0.45,
                  markeredgewidth=0)  # fmt: skip
        axes.plot([values.mean()] * 2, [height - 0.34, height + 0.34], color=INK, linewidth=1.6)
    axes.set(ylim=(1.5, -0.5), yticks=[0, 1], yticklabels=[name for name, _, _ in rows])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Accuracy (bar: mean)")
    percent_axis(axes.xaxis)
    return to_png(figure)
