"""Contest of cut-off rules on real scores: set by some models of a sweep, judged by others.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.cutoff_contest \\
        dataset=adult models=128 judges=896 draws=20 store=./mia_store

Trains what the store lacks (models + judges MLPs with the audit's defaults), or draws synthetic
scores (dataset=normal | skewed | heavy, see `cutoff_worlds.py`). Then repeats: `models` chosen at
random set every cut-off, with all of them as shadows `judges` others are judged.

FPR/α is what a rule realises. Rules are then compared where each realises α exactly (all its
cut-offs moved by one constant): the TPR there, and the spread, which is the standard deviation over
records of the true FPR, chance removed. A rule beats `conditional` when FPR/α ≤ 1.05, its TPR is
higher by more than three standard errors (paired over draws) and its spread is no wider. Draws
overlap, so their errors are rough.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from rich.console import Console

from tests.benchmarks import cutoff_rules as rules
from tests.benchmarks.cutoff_rules import Cutoff, Floats, Shapes
from tests.benchmarks.cutoff_worlds import WORLDS, draw_world

LEVELS = (0.1, 0.01, 0.001)
BASELINE, MOST_FPR = "conditional", 1.05
OWN = "each record's own, known"
REGRESSIONS = {  # positions in `shape_covariates`
    "regression, μ/σ, σ": [0, 1],
    "regression, μ/σ, skewness": [0, 2],
    "regression, μ/σ, σ, skewness": [0, 1, 2],
}


@dataclass(frozen=True)
class Request:
    """What to train and how to split it."""

    dataset: str = "adult"
    models: int = 128
    judges: int = 896
    draws: int = 20
    store: str = "./mia_store"
    records: str = "${dataset.pool}"
    epochs: int = 30

    @classmethod
    def parse(cls, arguments: list[str]) -> Request:
        given = dict(argument.split("=", 1) for argument in arguments)
        kinds = {"models": int, "judges": int, "draws": int, "epochs": int}
        return cls(**{key: kinds.get(key, str)(value) for key, value in given.items()})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Line:
    """One rule at one level, averaged over draws; errors are standard errors over draws."""

    level: float
    rule: str
    fpr: float
    fpr_error: float
    spread: float  # this and the rest at a realised FPR of exactly the level
    tpr: float
    gain: float  # in TPR, to the baseline
    gain_error: float
    wins: bool


def cutoffs(fit: Shapes, level: float, regressions: dict[str, rules.ByShape]) -> dict[str, Cutoff]:
    """Every rule, fitted."""
    skew, ratio, log_sd, zero = rules.shrinker(fit), rules.ratio, rules.log_sd, rules.zero
    pearson = rules.pearson(fit, level)
    fisher = rules.cornish_fisher(fit, level)
    return {
        "normal": rules.normal(fit, level),
        "fitted t": rules.fitted_t(fit, level),
        "exact t": rules.exact_t(fit, level),
        "empirical": rules.shifted(fit, level, zero),
        "conditional": rules.binned(fit, level, zero, ratio, 10),
        "conditional, 20 bins": rules.binned(fit, level, zero, ratio, 20),
        "bins of skewness": rules.binned(fit, level, zero, skew, 10),
        "bins of μ/σ, skewness": rules.two_way(fit, level, zero, skew),
        "bins of μ/σ, σ": rules.two_way(fit, level, zero, log_sd),
        "Pearson III": rules.for_few_shadows(fit, level, pearson),
        "Cornish–Fisher": rules.for_few_shadows(fit, level, fisher),
        "Pearson III, shifted": rules.shifted(fit, level, pearson),
        "Pearson III, bins of μ/σ": rules.binned(fit, level, pearson, ratio, 10),
        "Pearson III, bins of μ/σ, σ": rules.two_way(fit, level, pearson, log_sd),
        **{name: found.cutoff(level) for name, found in regressions.items()},
    }


def judged(
    scores: Floats, members: np.ndarray, chosen: np.ndarray, judges: np.ndarray
) -> Iterator[tuple[float, str, tuple[float, float, float]]]:
    """(level, rule, (FPR, spread, TPR)) of one split of the models."""
    shadows, out = scores[chosen].astype(np.float64), ~members[chosen]
    usable = (out.sum(axis=0) >= 5) & (~out).any(axis=0)
    shadows, out = shadows[:, usable], out[:, usable]
    fit, known = rules.sweep_shapes(shadows, out), rules.record_shapes(shadows, out)
    z = rules.standardised(scores[judges][:, usable].astype(np.float64), known)
    inside = members[judges][:, usable]
    regressions = {name: rules.ByShape.of(shadows, out, of) for name, of in REGRESSIONS.items()}
    for level in LEVELS:
        for rule, cutoff in cutoffs(fit, level, regressions).items():
            yield level, rule, _rates(z - cutoff(known), inside, level)
        yield level, OWN, _own(z, inside, level)


def _rates(margin: Floats, inside: np.ndarray, level: float) -> tuple[float, float, float]:
    """`margin` [J, N] is z less the cut-off."""
    outside = margin[~inside]
    rank = outside.size - 1 - round(level * outside.size)
    hits = margin > np.partition(outside, rank)[rank]
    n_out = (~inside).sum(axis=0)
    fpr = (hits & ~inside).sum(axis=0) / n_out
    chance = float(np.mean(fpr * (1 - fpr) / np.maximum(n_out - 1, 1)))
    spread = float(np.sqrt(max(0.0, fpr.var(ddof=1) - chance)))
    return float((outside > 0).mean()), spread, float(hits[inside].mean())


def _own(z: Floats, inside: np.ndarray, level: float) -> tuple[float, float, float]:
    """What a per-record cut-off from half of the judges gives on the other half."""
    half = len(z) // 2
    ranked = np.sort(np.where(inside[:half], -np.inf, z[:half]), axis=0)[::-1]
    ladder = np.vstack([np.full((1, z.shape[1]), np.inf), ranked])
    expected = level * ((~inside[:half]).sum(axis=0) + 1)
    rank = np.minimum(np.floor(expected).astype(np.int64), half - 1)
    cuts = [np.take_along_axis(ladder, rank[None] + step, axis=0) for step in (0, 1)]
    rest = expected - rank
    hits = (1 - rest) * (z[half:] > cuts[0]) + rest * (z[half:] > cuts[1])
    return float(hits[~inside[half:]].mean()), 0.0, float(hits[inside[half:]].mean())


def contest(
    scores: np.ndarray, members: np.ndarray, *, models: int, judges: int, draws: int
) -> list[Line]:
    """The table: `scores`, `members` [models + judges, N], split anew in each of `draws` ≥ 2."""
    found: dict[tuple[float, str], list[tuple[float, float, float]]] = {}
    for draw in range(draws):
        order = np.random.default_rng((0, draw)).permutation(models + judges)
        for level, rule, rates in judged(scores, members, order[:models], order[models:]):
            found.setdefault((level, rule), []).append(rates)
    table = {key: np.array(values) for key, values in found.items()}
    return [_line(*key, rates, table[key[0], BASELINE]) for key, rates in table.items()]


def _line(level: float, rule: str, rates: Floats, baseline: Floats) -> Line:
    fpr, spread, tpr = rates.mean(axis=0)
    errors = rates.std(axis=0, ddof=1) / np.sqrt(len(rates))
    gain = rates[:, 2] - baseline[:, 2]
    gain_error = float(gain.std(ddof=1) / np.sqrt(len(rates)))
    allowed = fpr <= MOST_FPR * level and spread <= baseline[:, 1].mean()
    wins = bool(allowed and gain.mean() > 3 * gain_error > 0) and rule != OWN
    return Line(
        level, rule, float(fpr), float(errors[0]), float(spread), float(tpr),
        float(gain.mean()), gain_error, wins,
    )  # fmt: skip


def print_lines(lines: list[Line]) -> None:
    """The table as text."""
    for line in lines:
        print(
            f"α {line.level:5g}  {line.rule:28s} FPR/α {line.fpr / line.level:.3f} ±"
            f" {line.fpr_error / line.level:.3f}  at α: spread/α {line.spread / line.level:.3f}"
            f"  TPR {line.tpr:.4f}  gain {line.gain:+.4f} ± {line.gain_error:.4f}"
            f"{'  beats it' if line.wins else ''}"
        )


def trained(request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Scores and members of the sweep, from the store where it holds them, or drawn."""
    if request.dataset in WORLDS:
        return draw_world(request.dataset, request.models + request.judges)
    from mia_audit.config import compose
    from mia_audit.preparation import prepare
    from mia_audit.progress import Progress
    from mia_audit.training import train_missing

    composed = compose(
        "audit",
        [
            f"dataset={request.dataset}",
            f"num_records={request.records}",
            f"num_models={request.models + request.judges}",
            f"model.epochs={request.epochs}",
            f"store={request.store}",
        ],
    ).settings
    matrix = train_missing(prepare(composed), composed.cluster, Progress(Console(stderr=True)))
    if matrix.missing:
        raise RuntimeError(f"{len(matrix.missing)} models are missing; run it again.")
    return matrix.scores, matrix.members


def main(arguments: list[str]) -> int:
    """Print the table of one dataset; exit status 0 always: this is a contest, not a limit."""
    request = Request.parse(arguments)
    scores, members = trained(request)
    print(f"{request.dataset}: cut-offs by {request.models} models, judged on {request.judges}")
    lines = contest(
        scores, members, models=request.models, judges=request.judges, draws=request.draws
    )
    print_lines(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
