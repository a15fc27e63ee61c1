"""What is done by blocks, in threads or on a sample gives what is done at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.stats import panel as panel_module
from mia_audit.stats import threads
from mia_audit.stats.blocks import block_at
from mia_audit.stats.entries import Counts, Entries
from mia_audit.stats.evaluation import evaluate
from mia_audit.stats.influence import two_way_variance
from mia_audit.stats.judges import FixedJudge, PooledJudge
from mia_audit.stats.measured_epsilon import measured_epsilon
from mia_audit.stats.moments import Moments, leave_one_out_moments
from mia_audit.stats.operating_points import contestants
from mia_audit.stats.panel import build_panel
from mia_audit.stats.roc import area_of_sorted, order_statistics
from mia_audit.stats.threads import column_slices, in_threads, num_threads, row_slices


def draw(num_models=40, num_records=700, *, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < 0.5
    spread = np.exp(rng.normal(0, 0.5, num_records))
    scores = rng.normal(0, 3, num_records) + spread * rng.standard_normal(members.shape)
    return scores + members, members


def numbers(evaluation):
    return [(p.tpr, p.fpr, p.lower, p.upper) for p in evaluation.points]


@pytest.mark.parametrize("setting", ["1", "3", ""])
def test_the_number_of_threads_changes_nothing(monkeypatch, setting):
    scores, members = draw()
    expected = evaluate(scores, members)
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    found = evaluate(scores, members)
    np.testing.assert_array_equal(numbers(found), numbers(expected))
    for name, values in expected.records.items():
        np.testing.assert_array_equal(found.records[name], values)


def test_the_size_of_blocks_changes_rounding_alone(monkeypatch):
    scores, members = draw()
    expected = evaluate(scores, members)
    monkeypatch.setattr(threads, "NARROWEST", 7)
    monkeypatch.setattr(threads, "ROW_ENTRIES", 1_500)
    for module in ("panel", "panel_regression", "standardisation", "influence", "record_judge"):
        monkeypatch.setattr(f"mia_audit.stats.{module}.BLOCK_ENTRIES", 1_000)
    np.testing.assert_allclose(numbers(evaluate(scores, members)), numbers(expected), rtol=1e-9)


def test_a_sample_of_the_records_serves_for_what_is_smooth(monkeypatch):
    """Bins, degrees of freedom and regressions from a third of the records: rates as before.

    A conformal rule is at its level whatever bins or shapes it is given, up to two ranks a bin;
    the t cut-off moves with its fitted degrees of freedom by a fraction of an error.
    """
    scores, members = draw(200, 999)
    expected = evaluate(scores, members, alphas=(0.1, 0.05))
    monkeypatch.setattr(panel_module, "SAMPLE_ENTRIES", 200 * 333)
    assert build_panel(scores, members).sample.size == 333
    found = evaluate(scores, members, alphas=(0.1, 0.05))
    ranks = 2 * 10 / (~members).sum()  # the cut-off itself is no hit, and its rank is rounded down
    for point, other in zip(found.points, expected.points, strict=True):
        if point.method in ("post_conditional", "post_regression"):
            assert abs(point.fpr - point.alpha) <= ranks
            assert other.lower < point.tpr < other.upper
        elif "student_t" not in point.method or "exact" in point.method:
            assert (point.tpr, point.fpr) == (other.tpr, other.fpr) or np.isnan(point.tpr)
        else:
            assert other.lower < point.tpr < other.upper


def test_float32_scores_are_judged_in_float32():
    """What is stored of each entry is as exact as its score; the rates are those of float64."""
    scores, members = draw(64, 500)
    single = scores.astype(np.float32)
    panel = build_panel(single, members)
    assert panel.standardised("positive").dtype == panel.naive().statistic.dtype == np.float32
    for contestant in contestants(panel):
        assert contestant.judge(0.1).hits.dtype == bool
    one, other = evaluate(single, members), evaluate(single.astype(float), members)
    entry = 1.5 / min(members.sum(), (~members).sum())  # an entry at a cut-off may fall either way
    for point, exact in zip(one.points, other.points, strict=True):
        np.testing.assert_allclose(point.tpr, exact.tpr, atol=entry)


@pytest.mark.parametrize("fixed", [True, False])
def test_counts_of_hits_give_the_variance_of_the_influences(fixed):
    statistic, members = draw(30, 90)
    valid = np.random.default_rng(1).random(members.shape) < 0.9
    entries = Entries(members & valid, ~members & valid)
    judge = FixedJudge(statistic, entries, lambda level: 1.0) if fixed else PooledJudge(
        statistic, entries
    )  # fmt: skip
    judged = judge(0.1)
    for fast, influence in (
        (judged.tpr_variance, judged.tpr_influence),
        (judged.fpr_variance, judged.fpr_influence),
    ):
        assert fast == pytest.approx(two_way_variance(influence, 30, 90), rel=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=1), st.lists(st.integers(-9, 9), min_size=1))
def test_ranks_of_two_sorted_arrays(first, second):
    one, other = np.sort(np.array(first, dtype=float)), np.sort(np.array(second, dtype=float))
    together = np.sort(np.concatenate([one, other]))
    ranks = np.arange(together.size)
    np.testing.assert_array_equal(order_statistics(one, other, ranks), together)
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    assert area_of_sorted(one, other) == pytest.approx(np.mean(pairs))


def test_signs_of_effects_are_those_of_the_left_out_means():
    scores, members = draw(12, 300)
    members[:, 0], members[:, 1] = True, np.arange(12) == 4
    moments = leave_one_out_moments(scores, members)
    negative, known = block_at(scores, members, slice(0, 300)).effect_signs()
    expected = np.isfinite(moments.mean_in + moments.mean_out)
    np.testing.assert_array_equal(known, expected)
    assert not known[:, 0].any()
    assert not known[4, 1]
    np.testing.assert_array_equal(negative[known], (moments.mean_in < moments.mean_out)[known])


def test_counts_are_sums_of_masks():
    one, other = (np.random.default_rng(seed).random((50, 70)) < 0.5 for seed in range(2))
    counts = Counts.of(one, other)
    np.testing.assert_array_equal(counts.by_model, (one & other).sum(axis=1))
    np.testing.assert_array_equal(counts.by_record, (one & other).sum(axis=0))
    assert counts.total == (one & other).sum()


def test_slices_cover_everything_once():
    shape = (5_000, 1_000)
    assert [s.stop - s.start for s in column_slices(shape, 1 << 16)] == [128] * 7 + [104]
    records = np.concatenate([np.arange(1_000)[s] for s in column_slices(shape, 1)])
    np.testing.assert_array_equal(records, np.arange(1_000))
    models = np.concatenate([np.arange(5_000)[s] for s in row_slices(shape)])
    np.testing.assert_array_equal(models, np.arange(5_000))


def test_results_come_in_the_order_of_the_parts(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert num_threads() == 4
    assert in_threads(lambda part: part * part, range(100)) == [i * i for i in range(100)]
    with pytest.raises(ValueError, match="third"):
        in_threads(lambda part: [0, 0, int("third")][part], range(3))


def test_a_sample_sees_every_kind_of_a_pool_that_alternates(monkeypatch):
    """Every other record is constant: their share is that of the whole, by its binomial error."""
    scores, members = draw(40, 2_000)
    scores[:, 1::2] = 3.0
    monkeypatch.setattr(panel_module, "SAMPLE_ENTRIES", 40 * 500)
    found = build_panel(scores, members)
    assert found.sample.size == 500
    assert abs(found.floored_share - 0.5) < 4 * np.sqrt(0.25 / 500)


@pytest.mark.parametrize("turned", [(True, True), (True, False), (False, True)])
def test_the_layout_of_scores_and_given_moments_changes_nothing(turned):
    scores, members = draw(64, 500)
    moments = leave_one_out_moments(scores, members)
    expected = evaluate(scores, members, moments=moments)
    if turned[0]:
        scores = np.asfortranarray(scores)
    if turned[1]:
        moments = Moments(*(np.asfortranarray(values) for values in vars(moments).values()))
    found = evaluate(scores, members, moments=moments)
    assert found.point("post_regression", 0.1).tpr > 0.05
    np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-9)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float16])
def test_statistics_of_other_kinds_are_ranked(kind):
    scores, members = draw(16, 60)
    statistic = np.clip(10 * scores + 100, 0, 255).astype(kind)
    one, other = (evaluate(scores, members, statistic=s) for s in (statistic, statistic * 1.0))
    np.testing.assert_allclose(numbers(one), numbers(other))


@pytest.mark.filterwarnings("error")
def test_half_precision_scores_are_judged_in_single():
    scores, members = draw(32, 300)
    scores[:, ::3] = 1.0
    scores[4, ::3] = 2.0  # z of a constant record: a million, where half precision is infinite
    half = scores.astype(np.float16)
    one, other = (evaluate(s, members) for s in (half, half.astype(np.float32)))
    np.testing.assert_array_equal(numbers(one), numbers(other))
    assert measured_epsilon(half, members) == measured_epsilon(half.astype(np.float32), members)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_entries_whose_given_variance_is_no_variance_do_not_count():
    scores, members = draw(16, 60)
    moments = leave_one_out_moments(scores, members)
    moments.var_out[:, 5], moments.var_in[:, 7] = 0.0, -1.0
    assert evaluate(scores, members, moments=moments).nan_entries == 32
