"""Promise: the stated false-positive rate is the realised one, and no effect means TPR = FPR.

Standard errors come from independent repetitions of the whole design; limits are four of them.
Figures to compare with are those of arXiv 2605.25819's rules on normal scores.
"""

import math

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats.bin_judge import BINS
from mia_audit.stats.cutoffs import merge_bins
from mia_audit.stats.design import draw_members
from mia_audit.stats.evaluation import evaluate
from mia_audit.stats.panel import build_panel
from mia_audit.stats.shapes import shape_covariates
from mia_audit.stats.thresholds import (
    ExactStudentT,
    Normal,
    Regression,
    num_out_shadows,
    standardise,
)
from tests.benchmarks.cutoff_worlds import draw_world

pytestmark = pytest.mark.slow

LEVELS = (0.01, 0.001)


def null_scores(members, rng):
    """Normal scores of unequal records, untouched by membership."""
    num_records = members.shape[1]
    noise = rng.standard_normal(members.shape) * np.exp(rng.normal(0, 1, num_records))
    return rng.normal(0, 5, num_records) + noise


def out_share(decisions, z, members):
    """Realised FPR over valid out entries."""
    return decisions[~members & ~np.isnan(z)].mean()


def realised(num_models, design, seed):
    """{(rule, α): FPR/α} of one repetition."""
    members = draw_members(num_models, 2**19 // num_models, design=design, seed=seed)
    scores = null_scores(members, np.random.default_rng(seed))
    z = standardise(scores, members)
    signed = standardise(scores, members, direction="estimated")
    with np.errstate(invalid="ignore"):
        t_only = stats.t.isf(LEVELS, np.maximum(num_out_shadows(members) - 1, 1)[..., None])
    found = {}
    for position, alpha in enumerate(LEVELS):
        decisions = {
            "exact t, +1": (ExactStudentT().decide(z, members, alpha), z),
            "exact t, estimated": (ExactStudentT().decide(signed, members, alpha), signed),
            "t(n-1), estimated": (signed > t_only[..., position], signed),
            "normal, +1": (Normal().decide(z, members, alpha), z),
            "normal, estimated": (Normal().decide(signed, members, alpha), signed),
        }
        for rule, (hits, statistic) in decisions.items():
            found[rule, alpha] = out_share(hits, statistic, members) / alpha
    return found


def summary(repetitions):
    """Mean and standard error of each figure over repetitions."""
    return {
        key: (
            float(np.mean([r[key] for r in repetitions])),
            float(np.std([r[key] for r in repetitions], ddof=1) / math.sqrt(len(repetitions))),
        )
        for key in repetitions[0]
    }


@pytest.mark.parametrize("design", ["bernoulli", "balanced", "fixed_size"])
@pytest.mark.parametrize("num_models", [16, 32, 64, 256])
def test_exact_t_keeps_its_level_and_the_papers_rules_do_not(num_models, design, capsys):
    table = summary([realised(num_models, design, seed) for seed in range(8)])
    with capsys.disabled():
        for (rule, alpha), (ratio, error) in table.items():
            print(
                f"{design:10s} M {num_models:4d} α {alpha:g} {rule:20s} {ratio:6.3f} ± {error:.3f}"
            )
    for alpha in LEVELS:
        ratio, error = table["exact t, +1", alpha]
        # the error cannot be smaller than that of independent entries
        floor = math.sqrt(1 / (alpha * 8 * 2**18))
        assert abs(ratio - 1) < 4 * max(error, floor)
        for rule in ("normal, +1", "normal, estimated", "t(n-1), estimated"):
            inflated, spread = table[rule, alpha]
            assert inflated > 1 - 4 * max(spread, floor)
    known = {
        (16, "normal, estimated", 0.01): 5.2,
        (16, "t(n-1), estimated", 0.01): 1.8,
        (32, "normal, estimated", 0.001): 6.9,
        (32, "t(n-1), estimated", 0.001): 1.9,
        (64, "normal, estimated", 0.001): 3.1,
        (64, "t(n-1), estimated", 0.001): 1.5,
        (256, "normal, estimated", 0.001): 1.4,
        (256, "t(n-1), estimated", 0.001): 1.2,
    }
    if design == "bernoulli":
        for (size, rule, alpha), value in known.items():
            if size == num_models:
                ratio, error = table[rule, alpha]
                assert ratio == pytest.approx(value, abs=0.06 + 4 * error)


NULL_METHODS = ("naive", "post_empirical", "post_conditional", "post_regression", "per_record")


def conformal_gap(members, scores, alpha):
    """What (TPR − FPR)/α must be where cut-offs are conformal, for each method.

    A cut-off is itself an out score and no hit, so the FPR counts j − 1 of a bin's n out scores,
    whereas a fresh score passes the cut with probability j/(n+1): one entry a bin.
    """
    panel = build_panel(scores, members)
    counts = np.bincount(panel.bins(BINS)[panel.entries.outside])
    bins = int(merge_bins(counts, alpha)[-1]) + 1
    one = 1 / (alpha * panel.entries.num_outside.total)
    return {
        "naive": one,
        "post_empirical": one,
        "post_conditional": bins * one,
        "post_regression": one,
        "per_record": 0.0,
    }


def null_excess(num_models, alpha, seed):
    """(TPR − FPR)/α of each method on scores without any effect, less the conformal gap."""
    members = draw_members(num_models, 2**15 // num_models, seed=seed)
    scores = null_scores(members, np.random.default_rng(10_000 + seed))
    evaluation = evaluate(scores, members, alphas=(alpha,), intervals="none")
    points = {name: evaluation.point(name, alpha) for name in NULL_METHODS}
    gap = conformal_gap(members, scores, alpha)
    return {name: (p.tpr - p.fpr) / alpha - gap[name] for name, p in points.items()}


@pytest.mark.parametrize(
    ("num_models", "alpha"), [(16, 0.1), (16, 0.01), (64, 0.1), (64, 0.01), (256, 0.01)]
)
def test_no_effect_means_that_members_are_hit_as_often_as_others(num_models, alpha, capsys):
    table = summary([null_excess(num_models, alpha, seed) for seed in range(60)])
    with capsys.disabled():
        for method, (excess, error) in table.items():
            print(
                f"M {num_models:4d} α {alpha:g} {method:17s} excess/α {excess:+.3f} ± {error:.3f}"
            )
    for method, (excess, error) in table.items():
        if method != "per_record" or num_models >= 2 / alpha:
            assert abs(excess) < 4 * error
        else:
            assert math.isnan(excess)


@pytest.mark.parametrize("world", ["normal", "skewed", "heavy"])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_regressed_cutoffs_keep_their_level_whatever_the_shapes(world, alpha, capsys):
    """Members without an effect are fresh scores: the share of hits among them is the FPR."""
    rates = []
    for seed in range(16):
        scores, members = draw_world(world, 64, 2**11, seed=seed, effect=0.0)
        z, covariate = standardise(scores, members), shape_covariates(scores, members)
        hits = Regression().decide(z, members, alpha, covariate)
        rates.append(hits[members & ~np.isnan(z)].mean() / alpha)
    mean, error = np.mean(rates), np.std(rates, ddof=1) / math.sqrt(len(rates))
    with capsys.disabled():
        print(f"{world:7s} α {alpha:g} regression FPR/α {mean:.3f} ± {error:.3f}")
    assert abs(mean - 1) < 4 * error
