"""Cut-off rules against plain per-entry loops, and the invariances they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mia_audit.stats.cutoffs import conformal_cutoff, merge_bins, upper_rank
from mia_audit.stats.student_t import fit_degrees_of_freedom
from mia_audit.stats.thresholds import (
    Conditional,
    Empirical,
    ExactStudentT,
    Normal,
    StudentT,
    standardise,
)

RULES = (Empirical(), Conditional(bins=4), Normal(), StudentT(), ExactStudentT())


def draw(num_models, num_records, *, fraction=0.5, seed=0):
    """Scores with unequal records and a planted effect."""
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < fraction
    noise = rng.standard_normal(members.shape) * np.exp(rng.normal(0, 0.5, num_records))
    return rng.normal(0, 3, num_records) + members * 0.8 + noise, members


def slow_standardise(scores, members, direction):
    """One entry at a time, the target's model left out."""
    z = np.full(scores.shape, np.nan)
    for m, x in np.ndindex(*scores.shape):
        others = np.arange(len(scores)) != m
        out = scores[others & ~members[:, x], x]
        inside = scores[others & members[:, x], x]
        if len(out) < 2 or (direction == "estimated" and len(inside) < 1):
            continue
        sign = -1 if direction == "estimated" and inside.mean() < out.mean() else 1
        z[m, x] = sign * (scores[m, x] - out.mean()) / out.std(ddof=1)
    return z


def slow_cutoffs(rule, z, members, alpha, covariate):
    """The cut-off of every entry, written out."""
    out = [(z[e], covariate[e]) for e in np.ndindex(*z.shape) if not members[e] and z[e] == z[e]]
    values = np.array([value for value, _ in out])
    cutoffs = np.full(z.shape, math.nan)
    df = stats.t.fit(values, floc=0, fscale=1)[0] if isinstance(rule, StudentT) else math.nan
    for m, x in np.ndindex(*z.shape):
        n = sum(not members[k, x] for k in range(len(z)) if k != m)
        match rule:
            case Empirical():
                cutoffs[m, x] = slow_quantile(values, alpha)
            case Normal():
                cutoffs[m, x] = stats.norm.ppf(1 - alpha)
            case StudentT():
                cutoffs[m, x] = stats.t.ppf(1 - alpha, df)
            case ExactStudentT():
                cutoffs[m, x] = stats.t.ppf(1 - alpha, n - 1) * math.sqrt(1 + 1 / n)
    return cutoffs


def slow_quantile(values, alpha):
    """The ⌈(1−α)(n+1)⌉-th smallest, +∞ beyond the last."""
    rank = math.ceil((1 - alpha) * (len(values) + 1) - 1e-9)
    return math.inf if rank > len(values) else sorted(values)[rank - 1]


def covariate_of(scores, members):
    """Any covariate shaped like z."""
    return np.where(members, scores, scores + 1.0)


@pytest.mark.parametrize("direction", ["positive", "estimated"])
def test_standardise_equals_the_loop_over_entries(direction):
    scores, members = draw(9, 7, seed=1)
    members[:, 0] = True
    members[:, 1] = False
    expected = slow_standardise(scores, members, direction)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(standardise(scores, members, direction=direction), expected)


@pytest.mark.parametrize("rule", [Empirical(), Normal(), StudentT(), ExactStudentT()])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.01])
def test_decisions_equal_the_loop_over_entries(rule, alpha):
    scores, members = draw(12, 11, seed=2)
    z = standardise(scores, members)
    expected = z > slow_cutoffs(rule, z, members, alpha, z)
    np.testing.assert_array_equal(rule.decide(z, members, alpha), expected)


def test_conditional_decides_within_merged_bins():
    """40 out scores in 4 bins of 10; at α = 0.25 each bin needs 20, so pairs of bins join."""
    members = np.zeros((2, 40), dtype=bool)
    members[1] = True
    covariate = np.tile(np.arange(40.0), (2, 1))
    z = np.stack([np.arange(40.0), np.full(40, 15.5)])
    decisions = Conditional(bins=4).decide(z, members, 0.25, covariate)
    # ⌈.75·21⌉ = 16th smallest of 0…19 is 15, of 20…39 it is 35
    np.testing.assert_array_equal(
        decisions[0], [x in (*range(16, 20), *range(36, 40)) for x in range(40)]
    )
    np.testing.assert_array_equal(decisions[1], np.arange(40) < 20)


def test_conditional_with_one_bin_is_empirical():
    scores, members = draw(10, 30)
    z = standardise(scores, members)
    covariate = covariate_of(scores, members)
    for alpha in (0.1, 0.01):
        np.testing.assert_array_equal(
            Conditional(bins=1).decide(z, members, alpha, covariate),
            Empirical().decide(z, members, alpha),
        )


def test_conditional_asks_for_its_covariate():
    scores, members = draw(10, 5)
    with pytest.raises(ValueError, match="covariate"):
        Conditional().decide(scores, members, 0.1)


def test_unknown_direction_is_refused():
    scores, members = draw(10, 5)
    with pytest.raises(ValueError, match="'positive' or 'estimated'"):
        standardise(scores, members, direction="both")


@pytest.mark.parametrize(
    ("counts", "alpha", "expected"),
    [
        ([50, 50, 50], 0.1, [0, 1, 2]),
        ([49, 50, 50], 0.1, [0, 0, 1]),
        ([30, 20, 60, 10], 0.1, [0, 0, 1, 1]),
        ([30, 20, 60, 50], 0.1, [0, 0, 1, 2]),
        ([0, 0, 50], 0.1, [0, 0, 0]),
        ([1, 1, 1], 0.1, [0, 0, 0]),
    ],
)
def test_short_bins_join_their_neighbours(counts, alpha, expected):
    np.testing.assert_array_equal(merge_bins(np.array(counts), alpha), expected)


def test_ranks_survive_floating_point():
    """α(n+1) is a whole number, though no float product says so."""
    for n in (9, 99, 999, 9_999, 999_999):
        assert upper_rank(0.1, n) == (n + 1) // 10
    assert upper_rank(0.07, 99) == 7
    assert upper_rank(0.001, 998) == 0


def test_no_cutoff_below_one_expected_false_positive():
    assert conformal_cutoff(np.arange(8.0), 0.1) == np.inf
    assert conformal_cutoff(np.arange(9.0), 0.1) == 8.0


def test_ties_with_the_cutoff_are_no_hits():
    z = np.zeros((4, 5))
    members = np.arange(20).reshape(4, 5) % 2 == 0
    for rule in RULES:
        assert not rule.decide(z, members, 0.2, z).any()


def test_degrees_of_freedom_equal_scipy_and_fall_back_to_the_normal():
    heavy = stats.t.rvs(4, size=5_000, random_state=0)
    expected = stats.t.fit(heavy, floc=0, fscale=1)[0]
    assert fit_degrees_of_freedom(heavy) == pytest.approx(expected, rel=1e-3)
    light = stats.norm.rvs(scale=0.5, size=1_000, random_state=0)
    assert fit_degrees_of_freedom(light) == math.inf
    assert fit_degrees_of_freedom(np.empty(0)) == math.inf
    members = np.zeros((1, 1_000), dtype=bool)
    np.testing.assert_array_equal(
        StudentT().decide(light[None], members, 0.01), Normal().decide(light[None], members, 0.01)
    )


sizes = st.tuples(st.integers(4, 13), st.integers(1, 9), st.floats(0.1, 0.9), st.integers(0, 99))


@settings(max_examples=40, deadline=None)
@given(sizes, st.sampled_from(["positive", "estimated"]))
def test_decisions_ignore_each_records_own_scale_and_origin(size, direction):
    num_models, num_records, fraction, seed = size
    scores, members = draw(num_models, num_records, fraction=fraction, seed=seed)
    rng = np.random.default_rng(seed)
    moved = scores * 2.0 ** rng.integers(-4, 5, num_records) + rng.integers(-64, 65, num_records)
    z, z_moved = (standardise(s, members, direction=direction) for s in (scores, moved))
    np.testing.assert_allclose(z, z_moved, rtol=1e-6, atol=1e-9)
    for rule in (Normal(), ExactStudentT()):
        for alpha in (0.2, 0.01):
            np.testing.assert_array_equal(
                rule.decide(z, members, alpha), rule.decide(z_moved, members, alpha)
            )
    order = np.argsort(z, axis=None), np.argsort(z_moved, axis=None)
    assert np.isnan(z).any() or (order[0] == order[1]).all()


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_permuting_models_and_records_permutes_decisions(size):
    num_models, num_records, fraction, seed = size
    scores, members = draw(num_models, num_records, fraction=fraction, seed=seed)
    rng = np.random.default_rng(seed)
    swap = np.ix_(rng.permutation(num_models), rng.permutation(num_records))
    z = np.round(standardise(scores, members), 6)
    covariate = covariate_of(scores, members)
    for rule in RULES:
        expected = rule.decide(z, members, 0.2, covariate)[swap]
        actual = rule.decide(z[swap], members[swap], 0.2, covariate[swap])
        np.testing.assert_array_equal(actual, expected)


@settings(max_examples=30, deadline=None)
@given(sizes)
def test_a_laxer_level_never_loses_a_hit(size):
    num_models, num_records, fraction, seed = size
    scores, members = draw(num_models, num_records, fraction=fraction, seed=seed)
    z = standardise(scores, members)
    for rule in (Empirical(), Normal(), StudentT(), ExactStudentT()):
        strict, lax = (rule.decide(z, members, alpha) for alpha in (0.05, 0.3))
        assert not (strict & ~lax).any()
