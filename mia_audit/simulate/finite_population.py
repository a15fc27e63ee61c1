"""Shadow sets from one pool vary too little: the shortfall, and what the correction makes of it.

Models are means of members' vectors and the score is an inner product, so the standard deviation
over fresh training sets is known (arXiv 2605.25819; Cochran 1977).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mia_audit.simulate.checks import Check, check_mean, repeat_seeds
from mia_audit.simulate.settings import FinitePopulation
from mia_audit.stats.finite_population import (
    correct_finite_population,
    finite_population_factor,
    population_tpr,
)
from mia_audit.stats.reference import GaussianMeans, gaussian_means

ALPHA = 0.01
# Of the plug-in: the size at which its answer is known, and to how much (half a unit).
POOL, TRAIN, DIMENSION, MODELS = 500, 250, 100, 512
UNCORRECTED, CORRECTED, ROUNDING = 0.0789, 0.0465, 0.0005
_GRID = 4000


@dataclass(frozen=True, eq=False)
class RatioFound:
    """σ_emp/σ_ana of R repeats.

    `means` [R, 4]: root mean square over records of out, in, out corrected, in corrected.
    `per_record`: the ratios [N₊] of the out class of the first repeat, before and after.
    """

    settings: FinitePopulation
    means: np.ndarray
    per_record: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class PlugInFound:
    """Mean TPR at 1 % FPR for the population, [R] a repeat: true, and from one pool's models."""

    truth: np.ndarray
    uncorrected: np.ndarray
    corrected: np.ndarray


def simulate_ratios(settings: FinitePopulation, seed: int) -> RatioFound:
    """Repeat the reference simulation."""
    found = [
        _ratios(_drawn(settings, repeat), settings.num_train)
        for repeat in repeat_seeds(seed, settings.repeats, stream=1)
    ]
    means = np.sqrt(np.array([[np.mean(ratio**2) for ratio in ratios] for ratios in found]))
    return RatioFound(settings, means, (found[0][0], found[0][2]))


def simulate_plug_in(settings: FinitePopulation, seed: int) -> PlugInFound:
    """Repeat the simulation whose vulnerability for the population is known."""
    rows = []
    for repeat in repeat_seeds(seed, settings.repeats, stream=2):
        drawn = gaussian_means(MODELS, POOL, TRAIN, DIMENSION, seed=repeat)
        plug_ins = [
            population_tpr(drawn.scores, drawn.members, ALPHA, num_train=TRAIN, noise_share=share)
            for share in (1.0, 0.0)
        ]
        rows.append([tpr.mean() for tpr in (drawn.population_tpr(ALPHA), *plug_ins)])
    return PlugInFound(*np.array(rows).T)


def checks(ratios: RatioFound, plug_in: PlugInFound) -> list[Check]:
    """Expected beside observed."""
    return [*_ratio_checks(ratios), *_plug_in_checks(plug_in)]


def true_tpr(num_train: int, dimension: int, alpha: float) -> float:
    """Mean TPR over records x ~ N(0, I_d) for training sets from the population (quadrature)."""
    squared = chi2.ppf((np.arange(_GRID) + 0.5) / _GRID, dimension)
    sd_out = np.sqrt(squared / num_train)
    sd_in = np.sqrt(squared * (num_train - 1)) / num_train
    return float(ndtr((squared / num_train + ndtri(alpha) * sd_out) / sd_in).mean())


def draw_ratios(found: RatioFound) -> bytes:
    """PNG: histogram over records of σ_emp/σ_ana, before and after the correction."""
    import matplotlib

    from mia_audit.report.labels import MEMBER_COLOUR, NON_MEMBER_COLOUR
    from mia_audit.report.style import new_figure, rules, to_png

    before, after = found.per_record
    with matplotlib.rc_context(rules()):
        figure = new_figure(3.4)
        axes = figure.subplots()
        figure.subplots_adjust(left=0.09, right=0.985, bottom=0.155, top=0.9)
        low, high = min(before.min(), after.min()), max(before.max(), after.max())
        bins = np.linspace(low, high, 81)
        for values, colour, label in (
            (before, NON_MEMBER_COLOUR, "As measured"),
            (after, MEMBER_COLOUR, "Corrected"),
        ):
            axes.hist(values, bins=bins, color=colour, alpha=0.6, label=label, zorder=2)
        _rules(axes, finite_population_factor(found.settings.num_train, found.settings.num_pool))
        axes.set(title="Spread over models from one pool, relative to fresh training sets",
                 xlabel="σ measured / σ of the population, a record", ylabel="Records")  # fmt: skip
        axes.set_ylim(0, 1.16 * axes.get_ylim()[1])
        axes.legend(loc="upper center", borderaxespad=0)
        return to_png(figure)


def _rules(axes: Any, factor: float) -> None:
    from matplotlib.ticker import NullLocator

    from mia_audit.report.labels import INK
    from mia_audit.report.style import rule_of

    rule_of(axes, float(np.sqrt(factor)), f"√FPC = {np.sqrt(factor):.3f}", colour=INK)
    rule_of(axes, 1.0, "as in the population", colour=INK)
    axes.xaxis.set_minor_locator(NullLocator())


def _drawn(settings: FinitePopulation, seed: int) -> GaussianMeans:
    return gaussian_means(
        settings.num_models, settings.num_pool, settings.num_train, settings.dimension, seed=seed
    )


def _ratios(drawn: GaussianMeans, num_train: int) -> tuple[np.ndarray, ...]:
    """σ_emp/σ_ana of every record [N₊]: out, in, out corrected, in corrected."""
    _, moments = correct_finite_population(drawn.scores, drawn.members, num_train=num_train)
    return (
        np.sqrt(_variance(drawn.scores, ~drawn.members)) / drawn.sd_out,
        np.sqrt(_variance(drawn.scores, drawn.members)) / drawn.sd_in,
        np.sqrt(np.nanmean(moments.var_out, axis=0)) / drawn.sd_out,
        np.sqrt(np.nanmean(moments.var_in, axis=0)) / drawn.sd_in,
    )


def _variance(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Unbiased variance of the entries of `mask`, by record [N₊]."""
    count = mask.sum(axis=0)
    mean = (scores * mask).sum(axis=0) / count
    return (mask * (scores - mean) ** 2).sum(axis=0) / (count - 1)


def _ratio_checks(found: RatioFound) -> Iterator[Check]:
    sizes = found.settings.num_train, found.settings.num_pool
    measured, corrected = found.means.T[:2], found.means.T[2:]
    for kind, values in zip(("out", "in"), measured, strict=True):
        factor = finite_population_factor(*sizes, kind=kind)
        yield check_mean(f"σ ratio, {kind}, as measured", float(np.sqrt(factor)), values)
    for kind, values in zip(("out", "in"), corrected, strict=True):
        yield check_mean(f"σ ratio, {kind}, corrected", 1.0, values)


def _plug_in_checks(found: PlugInFound) -> Iterator[Check]:
    truth = true_tpr(TRAIN, DIMENSION, ALPHA)
    yield check_mean("TPR at 1% FPR, population", truth, found.truth)
    yield check_mean("Plug-in, one pool, uncorrected", UNCORRECTED, found.uncorrected,
                     rounding=ROUNDING)  # fmt: skip
    yield check_mean("Plug-in, one pool, corrected", CORRECTED, found.corrected, rounding=ROUNDING)
