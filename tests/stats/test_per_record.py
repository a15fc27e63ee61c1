"""Single records: the analytic TPR, the split-half ranking, the mixed decisions."""

import math

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats.entries import Entries
from mia_audit.stats.exposed import COLUMNS, most_exposed, rank_by_exposure
from mia_audit.stats.halves import split_halves
from mia_audit.stats.panel import RecordMoments, build_panel
from mia_audit.stats.per_record import negative_effects, normal_record_tpr
from mia_audit.stats.record_judge import RecordJudge


def draw(num_models=40, num_records=25, *, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < 0.5
    noise = rng.standard_normal(members.shape) * np.exp(rng.normal(0, 0.3, num_records))
    return rng.normal(0, 2, num_records) + members * rng.exponential(
        1, num_records
    ) + noise, members


def moments(delta, sd_in, sd_out, n_in, n_out):
    """One record as a table of records."""
    arrays = [np.atleast_1d(np.asarray(v, float)) for v in (delta, sd_in, sd_out, n_in, n_out)]
    delta, sd_in, sd_out, n_in, n_out = arrays
    return RecordMoments(
        delta, sd_in**2, n_in.astype(int), np.zeros_like(delta), sd_out**2, n_out.astype(int)
    )


def test_with_many_models_the_analytic_tpr_is_the_normal_one():
    records = moments(1.5, 0.8, 1.2, 10**9, 10**9)
    truth = stats.norm.sf(1.2 * stats.norm.isf(0.01), loc=1.5, scale=0.8)
    found = normal_record_tpr(records, 0.01)
    np.testing.assert_allclose([found.tpr, found.lower, found.upper], truth, rtol=1e-3)


def test_the_analytic_tpr_equals_its_formula():
    delta, sd_in, sd_out, n_in, n_out, alpha = 1.1, 0.9, 1.3, 9, 13, 0.05
    z = stats.norm.isf(alpha)
    u = (delta - sd_out * z) / sd_in
    w = 1 / n_in + (sd_out / sd_in) ** 2 * (1 / n_out + z**2 / (2 * (n_out - 1)))
    half = 1.96 * math.sqrt(w + u**2 / (2 * (n_in - 1)))
    found = normal_record_tpr(moments(delta, sd_in, sd_out, n_in, n_out), alpha)
    assert found.tpr[0] == pytest.approx(stats.norm.cdf(u / math.sqrt(1 - w)))
    assert found.lower[0] == pytest.approx(stats.norm.cdf(u - half))
    assert found.upper[0] == pytest.approx(stats.norm.cdf(u + half))


def test_full_moments_are_those_of_all_models():
    scores, members = draw(11, 9)
    records = build_panel(scores, members).records
    for x in range(9):
        inside, outside = scores[members[:, x], x], scores[~members[:, x], x]
        assert records.n_in[x] == inside.size
        assert records.n_out[x] == outside.size
        if inside.size > 1:
            assert records.mean_in[x] == pytest.approx(inside.mean())
            assert records.var_in[x] == pytest.approx(inside.var(ddof=1))
        if outside.size > 1:
            assert records.mean_out[x] == pytest.approx(outside.mean())
            assert records.var_out[x] == pytest.approx(outside.var(ddof=1))


def test_records_that_are_always_in_or_out_have_no_analytic_tpr():
    scores, members = draw(12, 3)
    members[:, 0], members[:, 1] = True, False
    tpr = normal_record_tpr(build_panel(scores, members).records, 0.1).tpr
    assert np.isnan(tpr[:2]).all()
    assert np.isfinite(tpr[2])


def test_clearly_negative_effects_are_counted():
    records = moments([-1.0, -0.3, 1.0], 1, 1, 16, 16)
    # two standard errors are 2·√(2/16) = 0.71
    np.testing.assert_array_equal(negative_effects(records), [True, False, False])


def test_mixed_decisions_expect_exactly_alpha_for_exchangeable_scores():
    """Summed over which of n+1 exchangeable scores is judged, the decision is α(n+1), exactly."""
    rng = np.random.default_rng(0)
    for n in (1, 4, 9, 13):
        for alpha in (0.01, 0.1, 0.25, 0.5):
            values = rng.standard_normal(n + 1)
            total = 0.0
            for judged in range(n + 1):
                inside = (np.arange(n + 1) == judged)[:, None]
                judge = RecordJudge(values[:, None], Entries(inside, ~inside))
                total += judge.rates(alpha, inside, judge.entries.num_inside)[0]
            assert total == pytest.approx(alpha * (n + 1))


def test_a_record_with_one_value_is_never_hit_above_its_last_cut():
    """Ties are no hits: only the cut at −∞ (more than n expected) could take them."""
    inside = np.arange(10)[:, None] < 4
    judge = RecordJudge(np.zeros((10, 1)), Entries(inside, ~inside))
    assert judge.rates(0.5, inside, judge.entries.num_inside)[0] == 0.0


def test_ranking_uses_one_half_and_reports_the_other():
    scores, members = draw(60, 25)
    halves = split_halves(scores, members)
    assert halves is not None
    table = most_exposed(halves, (0.1, 0.01), most=5)
    assert tuple(table) == COLUMNS
    for alpha in (0.1, 0.01):
        rows = table["alpha"] == alpha
        first = normal_record_tpr(build_panel(scores[:30], members[:30]).records, alpha)
        second = normal_record_tpr(build_panel(scores[30:], members[30:]).records, alpha)
        chosen = table["record"][rows]
        np.testing.assert_array_equal(chosen, np.argsort(-first.score, kind="stable")[:5])
        np.testing.assert_allclose(table["tpr"][rows], second.tpr[chosen])
        np.testing.assert_allclose(table["lower"][rows], second.lower[chosen])
        np.testing.assert_allclose(table["upper"][rows], second.upper[chosen])


def test_saturated_records_are_still_ordered():
    """TPRs that all round to 1 are ranked by how far beyond they are."""
    rng = np.random.default_rng(0)
    members = rng.random((40, 4)) < 0.5
    scores = rng.standard_normal(members.shape) + members * np.array([30.0, 60.0, 20.0, 40.0])
    halves = split_halves(scores, members)
    assert halves is not None
    np.testing.assert_array_equal(rank_by_exposure(halves[0], 0.1), [1, 3, 0, 2])


def test_too_few_models_leave_the_table_empty():
    scores, members = draw(11, 5)
    assert split_halves(scores, members) is None
    assert all(column.size == 0 for column in most_exposed(None, (0.1,)).values())
