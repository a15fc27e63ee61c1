"""The whole table: its rows, its masks, its notes, and what it refuses."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mia_audit.stats.attacks import lira
from mia_audit.stats.design import draw_members
from mia_audit.stats.evaluation import evaluate
from mia_audit.stats.moments import leave_one_out_moments
from mia_audit.stats.roc import roc_curve
from mia_audit.stats.shapes import shape_covariates
from mia_audit.stats.thresholds import (
    Conditional,
    Empirical,
    ExactStudentT,
    Normal,
    Regression,
    StudentT,
    standardise,
)

METHODS = [
    "naive",
    "post_empirical",
    "post_conditional",
    "post_regression",
    "post_normal",
    "post_student_t",
    "post_student_t_exact",
    "post_empirical_estimated",
    "post_normal_estimated",
    "post_student_t_estimated",
    "per_record",
    "per_record_normal",
]


def draw(num_models=32, num_records=60, *, fraction=0.5, gap=1.0, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < fraction
    noise = rng.standard_normal(members.shape) * np.exp(rng.normal(0, 0.5, num_records))
    return rng.normal(0, 3, num_records) + gap * members + noise, members


def test_every_method_has_a_row_at_every_level():
    scores, members = draw()
    evaluation = evaluate(scores, members, statistic=scores, alphas=(0.2, 0.05))
    found = [(point.method, point.alpha) for point in evaluation.points]
    assert sorted(found) == sorted((m, a) for m in [*METHODS, "attack"] for a in (0.2, 0.05))
    directions = {point.method: point.direction for point in evaluation.points}
    assert directions["naive"] == directions["per_record"] == "none"
    assert directions["post_empirical"] == "positive"
    assert directions["post_normal_estimated"] == "estimated"


@pytest.mark.parametrize("direction", ["positive", "estimated"])
def test_rates_are_those_of_the_public_rules(direction):
    scores, members = draw()
    evaluation = evaluate(scores, members, direction=direction, alphas=(0.1, 0.02))
    moments = leave_one_out_moments(scores, members)
    covariate = moments.mean_out / np.sqrt(moments.var_out)
    rules = {
        "post_empirical": Empirical(),
        "post_conditional": Conditional(),
        "post_normal": Normal(),
        "post_student_t": StudentT(),
        "post_student_t_exact": ExactStudentT(),
    }
    shapes = shape_covariates(scores, members)
    for alpha in (0.1, 0.02):
        z = standardise(scores, members, direction=direction)
        hits = Regression().decide(z, members, alpha, shapes)
        assert evaluation.point("post_regression", alpha).tpr == pytest.approx(hits[members].mean())
        for suffix, way in (("", direction), ("_estimated", "estimated")):
            z = standardise(scores, members, direction=way)
            for name, rule in rules.items():
                if suffix and name in ("post_conditional", "post_student_t_exact"):
                    continue
                decisions = rule.decide(z, members, alpha, covariate)
                point = evaluation.point(name + suffix, alpha)
                assert point.tpr == pytest.approx(decisions[members].mean())
                assert point.fpr == pytest.approx(decisions[~members].mean())
        llr = lira(scores, members)
        decisions = Empirical().decide(llr, members, alpha)
        assert evaluation.point("naive", alpha).tpr == pytest.approx(decisions[members].mean())


def test_normality_is_that_of_the_scores_as_they_are():
    scores, members = draw()
    plain, turned = (evaluate(scores, members, direction=d) for d in ("positive", "estimated"))
    np.testing.assert_array_equal(turned.normality.observed, plain.normality.observed)
    assert turned.normality.tail_ratio == plain.normality.tail_ratio


@pytest.mark.filterwarnings("error")
def test_records_of_one_class_alone_give_no_warning():
    scores, members = draw(16, 60)
    members[:, 0], members[:, 1], members[:, 2] = True, False, np.arange(16) == 0
    assert evaluate(scores, members, alphas=(0.5, 0.9, 1e-4)).nan_entries == 48


def test_areas_and_balanced_accuracy():
    scores, members = draw()
    evaluation = evaluate(scores, members)
    z, llr = standardise(scores, members), lira(scores, members)
    assert evaluation.auc == pytest.approx(roc_curve(z, members).auc)
    assert evaluation.auc_naive == pytest.approx(roc_curve(llr, members).auc)
    assert evaluation.auc > 0.6
    right = ((llr > 0)[members].mean() + (llr <= 0)[~members].mean()) / 2
    assert evaluation.balanced_accuracy == pytest.approx(right)
    assert evaluation.roc.fpr.size <= 2000


def test_the_chosen_attack_is_judged_like_naive():
    scores, members = draw()
    evaluation = evaluate(scores, members, statistic=lira(scores, members), alphas=(0.1,))
    attack, naive = (evaluation.point(name, 0.1) for name in ("attack", "naive"))
    for field in fields(attack):
        if field.name not in ("method", "note"):
            np.testing.assert_equal(getattr(attack, field.name), getattr(naive, field.name))


def test_infinite_statistics_are_ranked_and_nan_ones_are_left_out():
    scores, members = draw()
    statistic = scores.copy()
    statistic[0], statistic[1] = np.inf, -np.inf
    statistic[2, :7] = np.nan
    evaluation = evaluate(scores, members, statistic=statistic, alphas=(0.1,))
    assert evaluation.nan_entries == 7
    assert np.isfinite(evaluation.point("attack", 0.1).tpr)


def test_all_rules_share_one_valid_mask():
    """Record 0 has a single in model, record 1 a single out one: every rule leaves them out."""
    scores, members = draw(20, 40)
    members[:, 0], members[:, 1] = np.arange(20) == 3, np.arange(20) != 3
    whole = evaluate(scores, members, alphas=(0.1,), statistic=scores)
    rest = evaluate(scores[:, 2:], members[:, 2:], alphas=(0.1,), statistic=scores[:, 2:])
    assert whole.nan_entries == 40
    for method in METHODS[:-1]:
        if "conditional" not in method:
            assert whole.point(method, 0.1).tpr == pytest.approx(rest.point(method, 0.1).tpr)


def test_given_moments_replace_the_computed_ones():
    scores, members = draw()
    moments = leave_one_out_moments(scores, members)
    plain, given_ = evaluate(scores, members), evaluate(scores, members, moments=moments)
    for one, other in zip(plain.points, given_.points, strict=True):
        np.testing.assert_allclose([one.tpr, one.lower], [other.tpr, other.lower])
    # what has to recompute moments on half of the models cannot take given ones
    assert all(np.isnan(row.excess) for row in given_.spread)
    assert given_.exposed["record"].size == 0


def test_per_record_rows_say_how_many_models_they_need():
    scores, members = draw(30)
    evaluation = evaluate(scores, members, alphas=(0.5, 0.1, 0.05))
    enough, noisy, short = (evaluation.point("per_record", a) for a in (0.5, 0.1, 0.05))
    assert enough.note == ""
    assert noisy.note.startswith("noisy: M = 30 is below 100")
    assert np.isfinite(noisy.tpr)
    assert short.note == "needs M ≥ 200"
    assert np.isnan([short.tpr, short.fpr, short.lower]).all()
    assert enough.fpr == 0.5


def test_too_few_out_scores_are_named():
    scores, members = draw(8, 10)
    point = evaluate(scores, members, alphas=(0.001,)).point("post_empirical", 0.001)
    assert (point.tpr, point.fpr) == (0.0, 0.0)
    assert "too few out scores" in point.note
    assert np.isnan([point.lower, point.upper]).all()


def test_normal_theory_rows_carry_their_achieved_fpr():
    scores, members = draw()
    evaluation = evaluate(scores, members)
    for alpha in evaluation.alphas:
        for method in ("post_normal", "post_student_t", "post_student_t_exact"):
            point = evaluation.point(method, alpha)
            assert point.fpr_lower <= point.fpr <= point.fpr_upper
        analytic = evaluation.point("per_record_normal", alpha)
        assert analytic.fpr == evaluation.point("post_student_t_exact", alpha).fpr
        for method in ("naive", "post_empirical", "post_conditional", "post_regression"):
            assert np.isnan(evaluation.point(method, alpha).fpr_lower)


def test_record_arrays():
    scores, members = draw(24, 15)
    evaluation = evaluate(scores, members, alphas=(0.2, 0.05))
    records = evaluation.records
    for name in ("tpr", "lower", "upper", "tpr_empirical", "fpr", "fpr_naive"):
        assert records[name].shape == (2, 15)
    for name in ("delta", "n_in", "n_out"):
        assert records[name].shape == (15,)
    z = standardise(scores, members)
    decisions = Empirical().decide(z, members, 0.05)
    x = 4
    assert records["fpr"][1, x] == pytest.approx(decisions[~members[:, x], x].mean())
    assert records["delta"][x] == pytest.approx(
        scores[members[:, x], x].mean() - scores[~members[:, x], x].mean()
    )
    point = evaluation.point("per_record_normal", 0.2)
    assert point.tpr == pytest.approx(np.nanmean(records["tpr"][0]))
    assert (records["lower"] <= records["upper"]).all()


def test_densities_integrate_to_nearly_one():
    densities = evaluate(*draw(64, 200)).densities
    assert densities.edges.size == densities.member.size + 1
    widths = np.diff(densities.edges)
    assert (densities.member * widths).sum() == pytest.approx(1, abs=0.01)
    assert (densities.non_member * widths).sum() == pytest.approx(1, abs=0.01)
    centres = (densities.edges[1:] + densities.edges[:-1]) / 2
    assert (densities.member * centres).sum() > (densities.non_member * centres).sum()


def test_excess_spread_equals_its_formula_and_raw_meets_the_reference():
    """Normal scores: naive is uneven over records, the post-processed rule only by chance."""
    rng = np.random.default_rng(0)
    members = rng.random((64, 400)) < 0.5
    scores = rng.standard_normal(members.shape) + members * rng.exponential(1, 400)
    evaluation = evaluate(scores, members, alphas=(0.1,))
    naive, post = evaluation.spread
    assert naive.excess > 0.02 > post.excess
    assert post.raw == pytest.approx(post.reference, rel=0.15)
    z = stats.norm.isf(0.1)
    single = 0.09 - stats.norm.pdf(z) ** 2 * (1 + z**2 / 2)
    count = (~members).sum(axis=0)
    assert post.reference == pytest.approx(np.sqrt(np.mean(single / count)))
    rates = []
    for half in (slice(0, 32), slice(32, 64)):
        decisions = Empirical().decide(lira(scores[half], members[half]), members[half], 0.1)
        rates.append((decisions & ~members[half]).sum(axis=0) / (~members[half]).sum(axis=0))
    assert naive.excess == pytest.approx(np.sqrt(np.cov(*rates)[0, 1]))


def test_negative_share_counts_records_that_membership_lowers():
    scores, members = draw(64, 100, gap=0.0)
    scores[:, :30] -= 10 * members[:, :30]
    evaluation = evaluate(scores, members)
    assert 0.3 <= evaluation.negative_share <= 0.4


@pytest.mark.parametrize("value", [0.0, 7.25, -1e6])
def test_constant_scores_end_in_zeros(value):
    _, members = draw(16, 20)
    evaluation = evaluate(np.full(members.shape, value), members)
    assert evaluation.floored_share == 1.0
    assert "no variance" in evaluation.normality.warning
    assert evaluation.auc == evaluation.auc_naive == 0.5
    for point in evaluation.points:
        if point.method not in ("per_record", "per_record_normal"):
            assert (point.tpr, point.fpr) == (0.0, 0.0)


def test_one_odd_model_among_constant_scores_gives_numbers():
    _, members = draw(16, 20)
    scores = np.full(members.shape, 3.0)
    scores[5] = 4.0
    for point in evaluate(scores, members).points:
        if point.method not in ("per_record", "per_record_normal"):
            assert np.isfinite([point.tpr, point.fpr]).all()


def test_levels_look_up_by_value():
    evaluation = evaluate(*draw(), alphas=(0.1,))
    assert evaluation.point("naive", 0.1 + 1e-12).alpha == 0.1
    with pytest.raises(KeyError):
        evaluation.point("naive", 0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "up"}, "'positive' or 'estimated'"),
        ({"alphas": ()}, "at least one"),
        ({"alphas": (0.1, 1.0)}, "between 0 and 1"),
        ({"intervals": "binomial"}, "'clustered', 'bootstrap' or 'none'"),
        ({"statistic": np.zeros((2, 2))}, "shape"),
    ],
)
def test_mistakes_are_named(change, message):
    scores, members = draw(16, 10)
    with pytest.raises(ValueError, match=message):
        evaluate(scores, members, **change)


def test_unusable_matrices_are_named():
    scores, members = draw(16, 10)
    with pytest.raises(ValueError, match="boolean"):
        evaluate(scores, members.astype(int))
    with pytest.raises(ValueError, match="finite"):
        evaluate(np.where(scores > 0, np.nan, scores), members)
    with pytest.raises(ValueError, match="at least 6 models"):
        evaluate(scores[:3], members[:3])
    with pytest.raises(ValueError, match="at least 6 models"):
        evaluate(scores, np.ones_like(members))


def test_no_intervals_and_the_bootstrap_change_limits_only():
    scores, members = draw()
    tables = [evaluate(scores, members, intervals=i) for i in ("clustered", "none", "bootstrap")]
    for one, none, boot in zip(*(table.points for table in tables), strict=True):
        np.testing.assert_equal((one.tpr, one.fpr), (none.tpr, none.fpr))
        np.testing.assert_equal((one.tpr, one.fpr), (boot.tpr, boot.fpr))
        assert np.isnan(none.lower)
        assert np.isnan(boot.lower) == np.isnan(one.lower)


@settings(max_examples=15, deadline=None)
@given(st.integers(7, 19), st.integers(2, 11), st.floats(0.2, 0.8), st.integers(0, 99))
def test_any_size_and_fraction_gives_a_table(num_models, num_records, fraction, seed):
    scores, members = draw(num_models, num_records, fraction=fraction, seed=seed)
    others_in, others_out = ((kind.sum(axis=0) - kind >= 2) for kind in (members, ~members))
    valid = others_in & others_out
    if not (valid & members).any() or not (valid & ~members).any():
        with pytest.raises(ValueError, match="at least 6 models"):
            evaluate(scores, members)
        return
    evaluation = evaluate(scores, members, alphas=(0.3, 0.01))
    for point in evaluation.points:
        if "per_record" not in point.method:
            assert 0 <= point.tpr <= 1
            assert 0 <= point.fpr <= 1
        if np.isfinite(point.lower):
            assert point.lower <= point.tpr <= point.upper


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99))
def test_the_table_ignores_the_order_of_models_and_records(seed):
    scores, members = draw(17, 9, seed=seed)
    rng = np.random.default_rng(seed)
    swap = np.ix_(rng.permutation(17), rng.permutation(9))
    one = evaluate(scores, members, alphas=(0.2,))
    other = evaluate(scores[swap], members[swap], alphas=(0.2,))
    for first, second in zip(one.points, other.points, strict=True):
        numbers = [(p.tpr, p.fpr, p.lower, p.upper) for p in (first, second)]
        np.testing.assert_allclose(*numbers, rtol=1e-9)


def test_float32_scores_of_a_drawn_design_agree_with_float64():
    members = draw_members(24, 50, seed=1)
    scores = draw(24, 50)[0]
    for design_scores in (scores.astype(np.float32),):
        one = evaluate(design_scores, members, alphas=(0.1,))
        other = evaluate(design_scores.astype(float), members, alphas=(0.1,))
        for first, second in zip(one.points, other.points, strict=True):
            assert first.tpr == pytest.approx(second.tpr, nan_ok=True)
