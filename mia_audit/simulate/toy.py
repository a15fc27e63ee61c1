"""The affine toy: log-likelihood ratios N(±η, 2η), where every record's TPR has a formula.

Two questions (arXiv 2605.25819): does a cut-off at the true quantile reach the formula, and how
does each cut-off rule approach it as shadow models are added?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import ndtri

from mia_audit.simulate.checks import Check, check_mean, half_width, repeat_seeds
from mia_audit.simulate.settings import Toy
from mia_audit.stats.convergence import ConvergencePoint, convergence
from mia_audit.stats.design import draw_members
from mia_audit.stats.reference import toy_log_ratios, toy_strength, toy_tpr

ALPHA = 0.01
DIMENSIONS = (100, 1000, 2500)
NUM_TRAIN = 5000
EXACT = "post_student_t_exact"
_FORMULA_MODELS, _FORMULA_RECORDS = 100, 4000
_GRID = 2000


@dataclass(frozen=True, eq=False)
class FormulaFound:
    """Rates [R] of the best test, cut at the true quantile, for records of one dimension."""

    dimension: int
    tpr: np.ndarray
    fpr: np.ndarray


@dataclass(frozen=True)
class MethodRate:
    """One rule with `num_models` models: mean rates over repeats and their tolerances (±)."""

    num_models: int
    method: str
    tpr: float
    tpr_tolerance: float
    fpr: float
    fpr_tolerance: float


@dataclass(frozen=True, eq=False)
class MethodsFound:
    """Every rule against the number of models; `exact` is the TPR with unlimited shadows.

    `exact_t`: the exact-t rule, rows [repeat] of (TPR, FPR) by number of models.
    """

    settings: Toy
    exact: float
    rates: list[MethodRate]
    exact_t: dict[int, np.ndarray]


def simulate_formula(settings: Toy, seed: int) -> list[FormulaFound]:
    """Rates at the true cut-off −η + z·√(2η) for every dimension."""
    found = []
    for dimension in DIMENSIONS:
        seeds = repeat_seeds(seed, settings.repeats, stream=100 + dimension)
        tpr, fpr = np.array([_rates_at_true_cutoff(dimension, repeat) for repeat in seeds]).T
        found.append(FormulaFound(dimension, tpr, fpr))
    return found


def simulate_methods(settings: Toy, seed: int) -> MethodsFound:
    """Every cut-off rule on the first 16, 32, … models of a sweep of toy ratios."""
    repeats = []
    for repeat in repeat_seeds(seed, settings.repeats, stream=3):
        strength = toy_strength(settings.num_records, settings.dimension, NUM_TRAIN, seed=repeat)
        members = draw_members(settings.num_models, settings.num_records, seed=repeat)
        ratios = toy_log_ratios(strength, members, seed=repeat + 1)
        repeats.append(convergence(ratios, members, alphas=(ALPHA,)))
    rates = [_rate(points) for points in zip(*repeats, strict=True)]
    exact_t = {
        points[0].num_models: np.array([(point.tpr, point.fpr) for point in points])
        for points in zip(*repeats, strict=True)
        if points[0].method == EXACT
    }
    return MethodsFound(settings, formula_tpr(settings.dimension), rates, exact_t)


def checks(formula: list[FormulaFound], methods: MethodsFound) -> list[Check]:
    """Expected beside observed."""
    return [*_formula_checks(formula), *_exact_t_checks(methods)]


def formula_tpr(dimension: int) -> float:
    """Mean over records x ~ N(0, I_d) of Φ(√(2η) − z) (quadrature over χ²_d)."""
    return float(toy_tpr(_strength_grid(dimension, _GRID), ALPHA).mean())


def exact_t_tpr(num_models: int, dimension: int) -> float:
    """Expected TPR of the exact-t rule with M models under the Bernoulli design.

    Given n out shadows, z/√(1+1/n) of a member is noncentral t with n − 1 degrees of freedom and
    shift √(2η)/√(1+1/n); n is binomial(M − 1, ½), and entries with fewer than two shadows of
    either class are left out.
    """
    shadows = num_models - 1
    n = np.arange(2, shadows - 1)
    weight = stats.binom.pmf(n, shadows, 0.5)
    n, weight = n[weight > 1e-10], weight[weight > 1e-10]
    shift = np.sqrt(2 * _strength_grid(dimension, 200))
    cut = np.asarray(stats.t.isf(ALPHA, n - 1))
    shifts = shift / np.sqrt(1 + 1 / n)[:, None]
    power = np.asarray(stats.nct.sf(cut[:, None], n[:, None] - 1, shifts))
    return float(weight @ power.mean(axis=1) / weight.sum())


def _strength_grid(dimension: int, points: int) -> np.ndarray:
    squared = stats.chi2.ppf((np.arange(points) + 0.5) / points, dimension)
    return squared / (2 * (NUM_TRAIN - 1))


def _rates_at_true_cutoff(dimension: int, seed: int) -> tuple[float, float]:
    strength = toy_strength(_FORMULA_RECORDS, dimension, NUM_TRAIN, seed=seed)
    members = draw_members(_FORMULA_MODELS, _FORMULA_RECORDS, seed=seed)
    ratios = toy_log_ratios(strength, members, seed=seed + 1)
    hits = ratios > -strength - ndtri(ALPHA) * np.sqrt(2 * strength)
    return float(hits[members].mean()), float(hits[~members].mean())


def _rate(points: tuple[ConvergencePoint, ...]) -> MethodRate:
    tpr, fpr = (np.array([getattr(p, name) for p in points]) for name in ("tpr", "fpr"))
    return MethodRate(
        points[0].num_models, points[0].method,
        float(tpr.mean()), half_width(tpr), float(fpr.mean()), half_width(fpr),
    )  # fmt: skip


def _formula_checks(found: list[FormulaFound]) -> Iterator[Check]:
    for one in found:
        name = f"TPR at 1% FPR, d = {one.dimension:,}"
        yield check_mean(name, formula_tpr(one.dimension), one.tpr)
    fpr = np.mean([one.fpr for one in found], axis=0)
    yield check_mean("FPR at the true cut-off", ALPHA, fpr)


def _exact_t_checks(found: MethodsFound) -> Iterator[Check]:
    for num_models, rates in found.exact_t.items():
        expected = exact_t_tpr(num_models, found.settings.dimension)
        yield check_mean(f"Exact t, {num_models:,} models: TPR", expected, rates[:, 0])
    for num_models, rates in found.exact_t.items():
        yield check_mean(f"Exact t, {num_models:,} models: FPR", ALPHA, rates[:, 1])
