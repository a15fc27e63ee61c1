"""Distributions: false-positive rates of records, scores, accuracies of models."""

from typing import Any

import numpy as np
import scipy

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
    """Histograms of FPR_x, naive against calibrated, one panel for each of the two largest levels.

    The dots are what perfectly calibrated records would show (see `calibrated_rates`).
    """
    levels = sorted(range(len(evaluation.alphas)), key=lambda a: -evaluation.alphas[a])[:2]
    figure = new_figure(3.5)
    panels = figure.subplots(1, len(levels), squeeze=False)[0]
    figure.subplots_adjust(left=0.095, right=0.97, bottom=0.15, top=0.89, wspace=0.2)
    for axes, a in zip(panels, levels, strict=True):
        _draw_rates(axes, evaluation, a)
        axes.set_title(f"Asked for: {level(evaluation.alphas[a])}")
        axes.set_xlabel("False-positive rate of a record")
    panels[0].set_ylabel("Share of records")
    return to_png(figure)


def _draw_rates(axes: Any, evaluation: Evaluation, a: int) -> None:
    alpha, records = evaluation.alphas[a], evaluation.records
    trials = np.asarray(records["n_out"])
    rates = {"naive": records["fpr_naive"][a], HEADLINE: records["fpr"][a]}
    bins = _rate_bins(rates["naive"], alpha, trials)
    for method, name in (("naive", "Naive"), (HEADLINE, "Calibrated")):
        share, colour = _shares(rates[method], bins), label_of(method).colour
        axes.stairs(share, bins, color=colour, linewidth=1.7, label=name)
        axes.stairs(share, bins, color=colour, alpha=0.1, fill=True)
    share = _shares(calibrated_rates(alpha, trials), bins)
    axes.plot((bins[1:] + bins[:-1]) / 2, np.where(share > 0, share, np.nan), "o", color=INK,
              markersize=3.2, label="If all were alike", zorder=5)  # fmt: skip
    axes.set(yscale="log", xlim=(0, bins[-1]), ylim=(0.5 / max(2, trials.size), 1.2))
    decades(axes.yaxis)
    percent_axis(axes.yaxis)
    percent_axis(axes.xaxis)
    axes.legend(loc="upper right", borderaxespad=0)


def _rate_bins(rates: np.ndarray, alpha: float, trials: np.ndarray) -> np.ndarray:
    """Edges between the rates that a typical record can have, at most about 40 bins."""
    step = 1 / max(1.0, float(np.median(trials)))
    top = max(float(np.nanmax(rates, initial=0.0)), 3 * alpha)
    stride = max(1, round(top / step / 40))
    return (np.arange(0, top / step + stride + 1, stride) - 0.5) * step


def _shares(rates: np.ndarray, bins: np.ndarray) -> np.ndarray:
    known = rates[np.isfinite(rates)]
    return np.histogram(known, bins)[0] / max(1, known.size)


def calibrated_rates(alpha: float, trials: np.ndarray, *, draws: int = 400_000) -> np.ndarray:
    """False-positive rates of simulated records that all have the true rate `alpha`.

    `trials` [N]: non-member scores of each record. Normal scores are standardised leave-one-out
    and cut at the exact Student-t quantile; about `draws` scores are drawn, always the same ones.
    The variance is the reference [α(1−α) − φ(z_α)²(1 + z_α²/2)]/n of perfect calibration.
    """
    sizes = np.unique(np.quantile(np.maximum(trials, 3), (0.1, 0.3, 0.5, 0.7, 0.9)).astype(int))
    rng = np.random.default_rng(0)
    found = []
    for n in sizes:
        scores = rng.standard_normal((max(1, draws // sizes.size // n), n))
        centred = scores - scores.mean(axis=1, keepdims=True)
        square = (centred**2).sum(axis=1, keepdims=True) - centred**2 * n / (n - 1)
        z = centred * n / (n - 1) / np.sqrt(square / (n - 2))
        cutoff = scipy.stats.t.isf(alpha, n - 2) * np.sqrt(1 + 1 / (n - 1))
        found.append((z > cutoff).mean(axis=1))
    return np.concatenate(found)


def draw_densities(evaluation: Evaluation, cutoffs: dict[float, float]) -> bytes:
    """Densities of the standardised scores with the cut-off at each level (from its ROC)."""
    densities = evaluation.densities
    figure = new_figure(3.3)
    axes = figure.add_axes((0.035, 0.165, 0.945, 0.8))
    groups = (
        ("Non-members", densities.non_member, NON_MEMBER_COLOUR),
        ("Members", densities.member, MEMBER_COLOUR),
    )
    stride = _bins_to_merge(int(evaluation.records["n_out"].sum()), densities.edges.size - 1)
    for name, density, colour in groups:
        shown, edges = density.reshape(-1, stride).mean(axis=1), densities.edges[::stride]
        axes.stairs(shown, edges, color=colour, linewidth=1.8, label=name)
        axes.stairs(shown, edges, color=colour, alpha=0.13, fill=True)
    for alpha, cutoff in cutoffs.items():
        rule_of(axes, cutoff, level(alpha), colour=QUIET)
    axes.set(yticks=[], xlim=(densities.edges[0], densities.edges[-1]), ylim=(0, None))
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.set_xlabel("Standardised score, in standard deviations of a record's non-member scores")
    axes.legend(loc="upper left", borderaxespad=0)
    return to_png(figure)


def _bins_to_merge(num_scores: int, num_bins: int) -> int:
    """Neighbouring bins drawn as one, so that few scores do not look like noise."""
    wanted = 1 if num_scores > 50_000 else 2 if num_scores > 10_000 else 4
    return wanted if num_bins % wanted == 0 else 1


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
