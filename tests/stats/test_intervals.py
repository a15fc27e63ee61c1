"""Influences, two-way variances and limits, each against its formula written out entry by entry."""

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats.bin_judge import BinJudge
from mia_audit.stats.cutoffs import assign_bins, quantile_edges
from mia_audit.stats.differences import tpr_differences
from mia_audit.stats.entries import Entries
from mia_audit.stats.evaluation import evaluate
from mia_audit.stats.influence import Judgement, two_way_variance
from mia_audit.stats.intervals import Bootstrap, Clustered, interval_method, tpr_view
from mia_audit.stats.judges import FixedJudge, PooledJudge
from mia_audit.stats.operating_points import contestants
from mia_audit.stats.panel import build_panel
from mia_audit.stats.privacy_bounds import clopper_pearson
from mia_audit.stats.record_judge import RecordJudge

WHOLE = slice(None)


def draw(num_models=20, num_records=30, *, gap=1.0, seed=0):
    """Scores with a planted effect; some entries invalid, so that no mask is a complement."""
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < 0.5
    statistic = rng.standard_normal(members.shape) + gap * members + rng.normal(0, 1, num_records)
    valid = rng.random(members.shape) < 0.95
    return statistic, members & valid, ~members & valid


def slow_variance(psi):
    """V, written as the sum of products of entries that share a row or a column."""
    num_models, num_records = psi.shape
    same_row = sum(psi[m].sum() ** 2 for m in range(num_models))
    same_column = sum(psi[:, x].sum() ** 2 for x in range(num_records))
    total = num_models / (num_models - 1) * same_row
    total += num_records / (num_records - 1) * same_column - (psi**2).sum()
    return max(total, (psi**2).sum())


def tpr_of(statistic, inside, cutoff):
    return (statistic[inside] > cutoff).mean()


def conformal(values, alpha):
    rank = int(np.ceil((1 - alpha) * (values.size + 1) - 1e-9))
    return np.inf if rank > values.size else np.sort(values)[rank - 1]


def slow_pooled_psi(statistic, inside, outside, alpha):
    """ψ = (h−p)·i/Σi − s·(h−q)·o/Σo, s = [TPR(2α) − TPR(α/2)]/(1.5α)."""
    out = statistic[outside]
    hits = statistic > conformal(out, alpha)
    p, q = hits[inside].mean(), hits[outside].mean()
    rise = tpr_of(statistic, inside, conformal(out, 2 * alpha))
    rise -= tpr_of(statistic, inside, conformal(out, alpha / 2))
    psi = np.zeros(statistic.shape)
    for e in np.ndindex(*psi.shape):
        psi[e] = (hits[e] - p) * inside[e] / inside.sum()
        psi[e] -= rise / (1.5 * alpha) * (hits[e] - q) * outside[e] / outside.sum()
    return p, psi


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.02])
def test_pooled_influence_equals_its_formula(alpha):
    statistic, inside, outside = draw()
    p, psi = slow_pooled_psi(statistic, inside, outside, alpha)
    judged = PooledJudge(statistic, Entries(inside, outside))(alpha)
    assert judged.tpr == pytest.approx(p)
    np.testing.assert_allclose(judged.tpr_influence(WHOLE), psi, atol=1e-15)
    assert two_way_variance(judged.tpr_influence, 20, 30) == pytest.approx(slow_variance(psi))


def test_fixed_influence_has_no_second_term():
    statistic, inside, outside = draw()
    judged = FixedJudge(statistic, Entries(inside, outside), lambda level: stats.norm.isf(level))(
        0.1
    )
    hits = statistic > stats.norm.isf(0.1)
    p, q = hits[inside].mean(), hits[outside].mean()
    np.testing.assert_allclose(
        judged.tpr_influence(WHOLE), (hits - p) * inside / inside.sum(), atol=1e-15
    )
    np.testing.assert_allclose(
        judged.fpr_influence(WHOLE), (hits - q) * outside / outside.sum(), atol=1e-15
    )


def test_bin_influence_equals_its_formula():
    """− s_b·(h−q_b)·o·(I_b/Σi)/O_b within each bin b."""
    alpha = 0.1
    statistic, inside, outside = draw(40, 30)
    covariate = statistic + np.random.default_rng(1).standard_normal(statistic.shape)
    edges = np.quantile(covariate[outside], [0.25, 0.5, 0.75])
    bin_of = np.searchsorted(edges, covariate, side="right")
    assert min(np.bincount(bin_of[outside])) >= 5 / alpha
    hits = np.zeros(statistic.shape, dtype=bool)
    psi = np.zeros(statistic.shape)
    for b in range(4):
        here = bin_of == b
        p, part = slow_pooled_psi(statistic, inside & here, outside & here, alpha)
        cutoff = conformal(statistic[outside & here], alpha)
        hits |= here & (statistic > cutoff)
        psi += np.where(outside & here, part * (inside & here).sum() / inside.sum(), 0)
    p = hits[inside].mean()
    psi += (hits - p) * inside / inside.sum()
    finest = assign_bins(covariate, quantile_edges(covariate[outside], 4))
    judged = BinJudge(statistic, finest, Entries(inside, outside), bins=4)(alpha)
    assert judged.tpr == pytest.approx(p)
    np.testing.assert_array_equal(judged.hits, hits)
    np.testing.assert_allclose(judged.tpr_influence(WHOLE), psi, atol=1e-15)


def slow_record_hits(scores, inside, outside, x, alpha):
    """One record's mixed decisions at α for all its entries."""
    out = np.sort(scores[outside[:, x], x])[::-1]
    ranked = [np.inf, *out, -np.inf]
    expected = alpha * (out.size + 1)
    j = int(np.floor(expected + 1e-9))
    first, second = ranked[j], ranked[j + 1] if j <= out.size else -np.inf
    return (1 - (expected - j)) * (scores[:, x] > first) + (expected - j) * (scores[:, x] > second)


@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.01])
def test_record_influence_equals_its_formula(alpha):
    """ψ = {(h−p)·i/n_in,x − s·(h−q_x)·o/n_out,x}/N."""
    scores, inside, outside = draw(20, 12)
    num_records = 12

    def tpr(level):
        per_record = [
            slow_record_hits(scores, inside, outside, x, level)[inside[:, x]].mean()
            for x in range(num_records)
        ]
        return np.mean(per_record)

    p = tpr(alpha)
    s = (tpr(min(2 * alpha, 1)) - tpr(alpha / 2)) / (1.5 * alpha)
    psi = np.zeros(scores.shape)
    for x in range(num_records):
        h = slow_record_hits(scores, inside, outside, x, alpha)
        i, o = inside[:, x], outside[:, x]
        psi[:, x] = ((h - p) * i / i.sum() - s * (h - h[o].mean()) * o / o.sum()) / num_records
    judged = RecordJudge(scores, Entries(inside, outside))(alpha)
    assert judged.tpr == pytest.approx(p)
    np.testing.assert_allclose(judged.tpr_influence(WHOLE), psi, atol=1e-15)


def test_limits_are_logit_limits_with_a_t_quantile():
    statistic, inside, outside = draw()
    judge = PooledJudge(statistic, Entries(inside, outside))
    p, psi = slow_pooled_psi(statistic, inside, outside, 0.1)
    assert (statistic[inside] > 0).sum() >= 10
    width = stats.t.ppf(0.975, 19) * np.sqrt(slow_variance(psi)) / (p * (1 - p))
    logit = np.log(p / (1 - p))
    expected = 1 / (1 + np.exp(-(logit + np.array([-width, width]))))
    bounds = Clustered().bounds(judge, judge(0.1), 0.1)
    np.testing.assert_allclose(bounds.tpr, expected)
    assert np.isnan(bounds.fpr).all()


def test_few_hits_take_clopper_pearson_at_an_effective_number_of_trials():
    statistic, inside, outside = draw(20, 30, gap=-1.0, seed=5)
    alpha = 0.02
    judge = PooledJudge(statistic, Entries(inside, outside))
    p, psi = slow_pooled_psi(statistic, inside, outside, alpha)
    trials = inside.sum()
    assert 0 < p * trials < 10
    lax, lax_psi = slow_pooled_psi(statistic, inside, outside, 10 * alpha)
    inflation = max(
        1.0,
        trials * slow_variance(psi) / (p * (1 - p)),
        trials * slow_variance(lax_psi) / (lax * (1 - lax)),
    )
    effective = trials / inflation * (1.96 / stats.t.ppf(0.975, 19)) ** 2
    expected = clopper_pearson(effective * p, effective)
    np.testing.assert_allclose(Clustered().bounds(judge, judge(alpha), alpha).tpr, expected)


def test_no_hits_have_a_lower_limit_of_zero_and_a_positive_upper_one():
    statistic, inside, outside = draw(gap=-9.0)
    judge = PooledJudge(statistic, Entries(inside, outside))
    lower, upper = Clustered().bounds(judge, judge(0.05), 0.05).tpr
    assert judge(0.05).tpr == 0
    assert lower == 0 < upper < 0.2


def test_an_estimated_cutoff_needs_five_out_scores_above_it():
    statistic, inside, outside = draw(10, 10)
    judge = PooledJudge(statistic, Entries(inside, outside))
    bounds = Clustered().bounds(judge, judge(0.01), 0.01)
    assert np.isnan(bounds.tpr).all()
    assert "too few out scores" in bounds.note
    fixed = FixedJudge(statistic, Entries(inside, outside), lambda level: 1.0)
    assert np.isfinite(Clustered().bounds(fixed, fixed(0.01), 0.01).tpr).all()


def test_independent_entries_give_the_binomial_variance():
    """Without row or column effects V is p(1−p)/Σi on average (within four standard errors)."""
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(200):
        hits = rng.random((30, 30)) < 0.3
        inside = rng.random((30, 30)) < 0.5
        judged = Judgement(hits, Entries(inside, ~inside), 1 / inside.sum())
        p = judged.tpr
        variance = two_way_variance(judged.tpr_influence, 30, 30)
        ratios.append(variance * inside.sum() / (p * (1 - p)))
    # the floor at Σψ² only adds
    assert np.mean(ratios) > 1 - 4 * np.std(ratios) / np.sqrt(200)
    assert np.mean(ratios) < 1.3


def test_a_bootstrap_agrees_with_the_closed_form_where_records_differ():
    rng = np.random.default_rng(0)
    members = rng.random((60, 80)) < 0.5
    statistic = rng.standard_normal(members.shape) + 1.5 * rng.normal(0, 1, 80) * members
    judge = PooledJudge(statistic, Entries(members, ~members))
    closed, boot = (
        np.diff(way.bounds(judge, judge(0.1), 0.1).tpr)[0] for way in (Clustered(), Bootstrap())
    )
    assert 0.8 < boot / closed < 1.6
    assert Bootstrap().bounds(judge, judge(0.1), 0.1) == Bootstrap().bounds(judge, judge(0.1), 0.1)


def test_bootstrap_weights_are_multinomial_counts():
    """A draw's TPR is the weighted share of hits, for a cut-off fixed beforehand."""
    statistic, inside, outside = draw(6, 5)
    judge = FixedJudge(statistic, Entries(inside, outside), lambda level: 0.5)
    way = Bootstrap(draws=50, seed=3)
    rng = np.random.default_rng(3)
    rows = rng.multinomial(6, np.full(6, 1 / 6), 50)
    columns = rng.multinomial(5, np.full(5, 1 / 5), 50)
    shares = [
        np.average((statistic > 0.5)[inside], weights=np.outer(a, b)[inside])
        for a, b in zip(rows, columns, strict=True)
    ]
    expected = np.clip(np.quantile(shares, [0.025, 0.975]), 0, 1)
    np.testing.assert_allclose(way.bounds(judge, judge(0.1), 0.1).tpr, expected)


def test_names_of_intervals():
    assert interval_method("clustered") == Clustered()
    assert interval_method("bootstrap") == Bootstrap()
    with pytest.raises(ValueError, match="'clustered', 'bootstrap' or 'none'"):
        interval_method("binomial")


def sweeps(seed=0, gap=0.8):
    """Two score matrices on one design that share part of their noise."""
    rng = np.random.default_rng(seed)
    members = rng.random((40, 60)) < 0.5
    shared = rng.standard_normal(members.shape)
    first, second = (
        0.8 * shared + 0.6 * rng.standard_normal(members.shape) + shift * members
        for shift in (gap, gap / 2)
    )
    return first, second, members


@pytest.mark.parametrize("method", ["naive", "post_empirical", "post_student_t_exact"])
def test_paired_difference_equals_its_formula(method):
    first, second, members = sweeps()
    influences, rates = [], []
    for scores in (first, second):
        panel = build_panel(scores, members)
        judge = {c.method: c.judge for c in contestants(panel)}[method]
        influences.append(judge(0.1).tpr_influence(WHOLE))
        rates.append(judge(0.1).tpr)
    variance = slow_variance(influences[0] - influences[1])
    width = stats.t.ppf(0.975, 39) * np.sqrt(variance)
    (found,) = tpr_differences(first, second, members, method=method, alphas=(0.1,))
    assert found.difference == pytest.approx(rates[0] - rates[1])
    assert found.lower == pytest.approx(found.difference - width)
    assert found.upper == pytest.approx(found.difference + width)


def test_a_sweep_does_not_differ_from_itself():
    first, _, members = sweeps()
    for found in tpr_differences(first, first, members, alphas=(0.1, 0.001)):
        assert found.difference == 0
    assert found.lower != found.lower
    assert "too few out scores" in found.note


def test_unknown_methods_of_a_difference_are_refused():
    first, second, members = sweeps()
    with pytest.raises(ValueError, match="per_record"):
        tpr_differences(first, second, members, method="per_record")


def test_evaluate_reports_the_limits_of_these_formulas():
    scores, _, members = sweeps()
    evaluation = evaluate(scores, members, alphas=(0.1,))
    panel = build_panel(scores, members)
    for contestant in contestants(panel):
        judged = contestant.judge(0.1)
        bounds = Clustered().bounds(contestant.judge, judged, 0.1)
        point = evaluation.point(contestant.method, 0.1)
        assert (point.lower, point.upper) == bounds.tpr
        assert tpr_view(judged).rate == point.tpr
        assert point.lower < point.tpr < point.upper
