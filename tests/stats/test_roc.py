"""ROC curves: equal to scikit-learn's, ties in one vertex, thinning that keeps what matters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as sklearn_curve

from mia_audit.stats.roc import roc_curve, thinned_roc_of_sorted


def draw(levels, *, size=(30, 20), seed=0, shift=0.5):
    """Scores rounded to few levels, so that ties abound."""
    rng = np.random.default_rng(seed)
    members = rng.random(size) < 0.5
    return np.round((rng.standard_normal(size) + shift * members) * levels) / levels, members


@pytest.mark.parametrize("levels", [0.5, 2, 1e6])
def test_curve_and_area_equal_scikit_learn(levels):
    statistic, members = draw(levels)
    roc = roc_curve(statistic, members)
    fpr, tpr, threshold = sklearn_curve(members.ravel(), statistic.ravel(), drop_intermediate=False)
    np.testing.assert_allclose(roc.fpr, fpr)
    np.testing.assert_allclose(roc.tpr, tpr)
    np.testing.assert_allclose(roc.threshold, threshold)
    assert roc.auc == pytest.approx(roc_auc_score(members.ravel(), statistic.ravel()))


def test_a_coin_flip_attack_has_area_one_half():
    """0/1 scores: one vertex inside, AUC ½ within four standard errors of the rank statistic."""
    rng = np.random.default_rng(3)
    members = rng.random((50, 400)) < 0.5
    roc = roc_curve(rng.integers(0, 2, members.shape).astype(float), members)
    assert roc.fpr.size == 3
    error = np.sqrt(0.25 / members.sum() + 0.25 / (~members).sum()) / 2
    assert roc.auc == pytest.approx(0.5, abs=4 * error)


def test_all_scores_equal_make_a_diagonal():
    roc = roc_curve(np.zeros((3, 4)), np.arange(12).reshape(3, 4) % 3 == 0)
    np.testing.assert_array_equal(roc.fpr, [0, 1])
    np.testing.assert_array_equal(roc.tpr, [0, 1])
    assert roc.auc == 0.5
    assert roc.tpr_at(0.5) == 0.0


def test_nan_entries_are_left_out():
    statistic, members = draw(1e6)
    holes = statistic.copy()
    holes[::3, ::2] = np.nan
    kept = ~np.isnan(holes)
    assert roc_curve(holes, members).auc == pytest.approx(
        roc_auc_score(members[kept], statistic[kept])
    )


def test_both_classes_are_needed():
    with pytest.raises(ValueError, match="one of them is missing"):
        roc_curve(np.zeros((2, 2)), np.ones((2, 2), dtype=bool))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1, 3, 50]))
def test_the_curve_never_falls_and_mirrors(seed, levels):
    statistic, members = draw(levels, size=(7, 5), seed=seed)
    if members.all() or not members.any():
        return
    roc = roc_curve(statistic, members)
    assert (np.diff(roc.fpr) >= 0).all()
    assert (np.diff(roc.tpr) >= 0).all()
    assert (np.diff(roc.threshold) < 0).all()
    assert (roc.fpr[-1], roc.tpr[-1]) == (1.0, 1.0)
    assert roc_curve(-statistic, members).auc == pytest.approx(1 - roc.auc)
    assert roc_curve(np.exp(statistic), members).auc == pytest.approx(roc.auc)


def test_tpr_at_takes_the_last_vertex_within_the_fpr():
    statistic = np.array([[5.0, 4, 4, 3, 2, 1]])
    members = np.array([[True, True, False, True, False, False]])
    roc = roc_curve(statistic, members)
    assert roc.tpr_at(0.0) == pytest.approx(1 / 3)
    assert roc.tpr_at(1 / 3) == pytest.approx(1.0)
    assert roc.tpr_at(0.32) == pytest.approx(1 / 3)


@pytest.mark.parametrize("levels", [3, 1e9])
def test_a_curve_thinned_at_once_lies_on_the_whole_one(levels):
    statistic, members = draw(levels, size=(100, 60))
    roc = roc_curve(statistic, members)
    inside, outside = np.sort(statistic[members]), np.sort(statistic[~members])
    thin = thinned_roc_of_sorted(inside, outside, 500)
    assert thin.fpr.size <= 500
    assert thin.auc == pytest.approx(roc.auc)
    where = np.searchsorted(-roc.threshold, -thin.threshold)
    np.testing.assert_array_equal(thin.fpr, roc.fpr[where])
    np.testing.assert_array_equal(thin.tpr, roc.tpr[where])
    assert (thin.fpr[0], thin.fpr[-1], thin.tpr[-1]) == (0.0, 1.0, 1.0)


def test_thinning_keeps_vertices_ends_and_area():
    statistic, members = draw(1e9, size=(100, 300))
    roc = roc_curve(statistic, members)
    thin = roc.thin(500)
    assert thin.fpr.size <= 500
    assert thin.auc == roc.auc
    where = np.searchsorted(-roc.threshold, -thin.threshold)
    np.testing.assert_array_equal(thin.fpr, roc.fpr[where])
    np.testing.assert_array_equal(thin.tpr, roc.tpr[where])
    np.testing.assert_array_equal(thin.fpr[:100], roc.fpr[:100])
    assert (thin.fpr[-1], thin.tpr[-1]) == (1.0, 1.0)
    assert roc.thin(10**6) is roc
