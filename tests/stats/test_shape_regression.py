"""The regression of cut-offs on shape: covariates, fit and decisions against plain oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from mia_audit.stats import Empirical, Regression, evaluate, shape_covariates, standardise
from mia_audit.stats.quantile_regression import BANDWIDTH, REACH, RIDGE, Basis, Tail, cross_fitted
from mia_audit.stats.shape_regression import FOLDS, ShapeRegression, thinned
from tests.benchmarks.cutoff_worlds import draw_world


def whole(design: np.ndarray, values: np.ndarray, fold: np.ndarray) -> Tail:
    """Every entry near, each standing for itself."""
    ones = np.ones(len(values))
    return Tail(design, values, ones, fold, np.zeros((fold.max() + 1, design.shape[1])),
                np.bincount(fold).astype(float))  # fmt: skip


def test_covariates_equal_a_loop_without_the_own_score() -> None:
    rng = np.random.default_rng(0)
    members = rng.random((19, 5)) < 0.5
    scores = rng.gamma(2.0, size=(19, 5)) * [0.1, 1, 5, 1, 1] + [0, 5, -300, 1, 1]
    found = shape_covariates(scores, members)
    for m, x in np.ndindex(scores.shape):
        rest = np.delete(scores[:, x], m)[~np.delete(members[:, x], m)]
        sd = rest.std(ddof=1)
        expected = rest.mean() / sd, 2 * np.log(sd), stats.skew(rest)
        np.testing.assert_allclose(found[:, m, x], expected, rtol=1e-5, atol=1e-5)


def test_a_constant_record_and_one_without_shadows_do_no_harm() -> None:
    scores, members = np.full((6, 2), 3.0), np.ones((6, 2), dtype=bool)
    members[3:, 0] = False
    found = shape_covariates(scores, members)
    assert np.isfinite(found[:, :, 0]).all()
    assert found[2, :, 0].tolist() == [0] * 6


def test_the_surface_is_the_design_times_the_weights() -> None:
    rng = np.random.default_rng(0)
    covariates = rng.normal(size=(3, 400)).astype(np.float32) * 5
    basis = Basis.of(covariates)
    weights = rng.normal(size=basis.num_columns).astype(np.float32)
    expected = basis.design(covariates) @ weights
    np.testing.assert_allclose(basis.surface(covariates, weights), expected, rtol=1e-3, atol=1e-4)


def test_the_fit_minimises_the_smoothed_check_function_of_the_other_folds() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 4000)
    design = np.column_stack([np.ones_like(x), x])
    values = 1 + 2 * x + rng.standard_normal(x.size)
    fold = rng.integers(0, 3, x.size)
    found = cross_fitted(whole(design, values, fold), 0.1)
    for left in range(3):
        kept = fold != left

        def loss(at: np.ndarray, kept: np.ndarray = kept) -> float:
            rest = values[kept] - design[kept] @ at
            scaled = rest / BANDWIDTH
            check = BANDWIDTH * stats.norm.pdf(scaled) + rest * (0.9 - special.ndtr(-scaled))
            return float(check.mean() + 0.5 * RIDGE * at @ at)

        best = optimize.minimize(loss, found[left], method="Nelder-Mead", options={"xatol": 1e-4})
        np.testing.assert_allclose(found[left], best.x, atol=0.02)
    # Smoothing adds its variance to the noise: sd √(1 + .1²).
    truth = [1 + stats.norm.isf(0.1) * np.sqrt(1.01), 2]
    np.testing.assert_allclose(found.mean(axis=0), truth, atol=0.15)


def test_the_fit_does_not_run_away_in_a_thin_tail() -> None:
    """1 % of 2,000 values on 20 columns: undamped Newton steps diverge here."""
    rng = np.random.default_rng(1)
    design = np.column_stack([np.ones(2000), rng.standard_normal((2000, 19))])
    values = rng.standard_t(4, 2000)
    found = cross_fitted(whole(design, values, rng.integers(0, 4, 2000)), 0.01)
    assert np.abs(found).max() < 6
    assert np.mean(values > design @ found[0]) == pytest.approx(0.01, abs=0.01)


def test_far_entries_enter_as_sums_alone() -> None:
    """Splitting the values below into sums changes nothing: their loss is linear."""
    rng = np.random.default_rng(2)
    design = np.column_stack([np.ones(3000), rng.standard_normal(3000)])
    values = 0.3 * design[:, 1] + rng.standard_normal(3000)
    fold = rng.integers(0, 4, 3000)
    everything = whole(design, values, fold)
    near = values > -0.5
    below = np.stack([design[~near & (fold == k)].sum(axis=0) for k in range(4)])
    split = Tail(design[near], values[near], np.ones(near.sum()), fold[near], below,
                 everything.total)  # fmt: skip
    np.testing.assert_allclose(cross_fitted(split, 0.05), cross_fitted(everything, 0.05), atol=2e-3)


def test_a_record_never_moves_its_own_regression() -> None:
    """Other scores of one fold's records leave that fold's weights as they are."""
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(900), rng.standard_normal(900)])
    values, fold = rng.standard_normal(900), np.arange(900) % FOLDS
    moved = np.where(fold == 1, values + 3 * rng.standard_normal(900), values)
    before, after = (cross_fitted(whole(design, v, fold), 0.1) for v in (values, moved))
    np.testing.assert_allclose(before[1], after[1], atol=0.02)  # the start alone differs
    assert np.abs(before[0] - after[0]).max() > 0.05


def test_decisions_are_a_margin_over_its_conformal_quantile() -> None:
    """FPR as `Empirical` has it, one vertex below α; more members found where shapes differ."""
    scores, members = draw_world("skewed", 64, 600)
    z, covariate = standardise(scores, members), shape_covariates(scores, members)
    hits = Regression().decide(z, members, 0.05, covariate=covariate)
    plain = Empirical().decide(z, members, 0.05)
    out = ~members & ~np.isnan(z)
    assert hits[out].sum() == plain[out].sum() == int(0.05 * (out.sum() + 1)) - 1
    assert (hits != plain).any()


def test_few_scores_leave_the_empirical_rule() -> None:
    scores, members = draw_world("skewed", 16, 100)
    z, covariate = standardise(scores, members), shape_covariates(scores, members)
    hits = Regression().decide(z, members, 0.1, covariate=covariate)
    np.testing.assert_array_equal(hits, Empirical().decide(z, members, 0.1))


@pytest.mark.parametrize("covariate", [None, np.zeros((9, 4))])
def test_covariates_are_asked_for(covariate: np.ndarray | None) -> None:
    z, members = np.zeros((9, 4)), np.zeros((9, 4), dtype=bool)
    with pytest.raises(ValueError, match="shape_covariates"):
        Regression().decide(z, members, 0.1, covariate=covariate)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 99), models=st.integers(20, 31), fraction=st.floats(0.3, 0.7))
def test_order_and_units_do_not_matter(seed: int, models: int, fraction: float) -> None:
    """Models and records in another order, scores in other units, covariates affinely changed."""
    rng = np.random.default_rng(seed)
    scores, _ = draw_world("skewed", models, 331, seed=seed)
    members = rng.random(scores.shape) < fraction
    rows, columns = rng.permutation(models), rng.permutation(331)

    def decide(scores: np.ndarray, members: np.ndarray, stretch: float = 1.0) -> np.ndarray:
        scores = scores.astype(np.float64)
        z, covariate = standardise(scores, members), shape_covariates(scores, members)
        changed = covariate.copy()  # not log σ², which says whether there is a shape at all
        changed[::2] = stretch * covariate[::2] + (stretch - 1)
        return Regression().decide(z, members, 0.1, covariate=changed)

    expected = decide(scores, members)
    assert expected.any()
    permuted = decide(scores[rows][:, columns], members[rows][:, columns])
    np.testing.assert_array_equal(permuted, expected[rows][:, columns])
    np.testing.assert_array_equal(decide(8 * scores, members), expected)
    np.testing.assert_array_equal(decide(scores, members, stretch=4.0), expected)


def test_thinning_is_even_and_bounded() -> None:
    positions = np.arange(1000)
    assert thinned(positions, 2000).size == 1000
    assert thinned(positions, 300).size <= 300
    assert thinned(positions[:0], 5).size == 0
    assert set(np.diff(thinned(positions, 300))) == {4}


def test_margins_need_a_level_with_enough_scores() -> None:
    scores, members = draw_world("normal", 32, 300)
    z = standardise(scores, members)
    found = ShapeRegression(z, shape_covariates(scores, members), ~members & ~np.isnan(z))
    assert found.is_rich(0.1)
    assert not found.is_rich(0.001)
    assert found.margin(0.001) is z


def planted(num_models: int, num_records: int) -> tuple[np.ndarray, np.ndarray]:
    """Heterogeneous normal records with a shift of 0.8 for members."""
    rng = np.random.default_rng(0)
    members = rng.random((num_models, num_records)) < 0.5
    spread = np.exp(0.4 * rng.standard_normal(num_records))
    return rng.standard_normal(members.shape) * spread + 0.8 * members, members


def both_rates(scores: np.ndarray, members: np.ndarray, alpha: float) -> list[tuple[float, float]]:
    """(TPR, FPR) of the empirical and of the regression rule."""
    found = evaluate(scores.astype(np.float32), members, alphas=(alpha,))
    points = [found.point(method, alpha) for method in ("post_empirical", "post_regression")]
    return [(point.tpr, point.fpr) for point in points]


@pytest.mark.parametrize("constant", [3, 10, 200])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_records_without_spread_do_the_others_no_harm(constant: int, alpha: float) -> None:
    scores, members = planted(128, 1000)
    scores[:, :constant] = 27.6
    empirical, regression = both_rates(scores, members, alpha)
    assert regression[0] > 0.95 * empirical[0]
    assert regression[1] <= alpha


def test_scores_that_tie_are_accused_of_nothing() -> None:
    rng = np.random.default_rng(1)
    members = rng.random((64, 400)) < 0.5
    own = np.broadcast_to(rng.standard_normal(400), members.shape)
    for scores in (np.full(members.shape, 3.0), own):
        assert both_rates(scores, members, 0.1)[1] == (0, 0)
    members = rng.random((128, 1000)) < 0.5
    rare = (rng.random(members.shape) < rng.uniform(0, 0.01, 1000)).astype(float)
    for alpha in (0.1, 0.01):
        # No rule can accuse more than the few scores that stand out.
        assert both_rates(rare, members, alpha)[1][1] <= (rare[~members]).mean()


@pytest.mark.parametrize("num_records", [1, 5])
def test_few_records_are_judged_as_by_the_empirical_rule(num_records: int) -> None:
    rng = np.random.default_rng(2)
    members = rng.random((1024, num_records)) < 0.5
    scores = rng.standard_normal(members.shape)
    empirical, regression = both_rates(scores, members, 0.5)
    assert regression == empirical


def test_a_few_records_far_off_do_not_stretch_the_columns() -> None:
    rng = np.random.default_rng(5)
    covariates = rng.standard_normal((3, 1000))
    covariates[0, :20] = 1e6  # μ/σ of records that hardly vary
    covariates[1] = 7  # one covariate that says nothing
    design = Basis.of(covariates).design(covariates)
    assert np.abs(design).max() <= REACH**2
    assert (design.std(axis=0) > 0).sum() == 2 * 5 + 1, "two covariates and their product"
