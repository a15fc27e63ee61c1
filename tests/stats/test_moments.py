import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mia_audit.stats.moments import (
    VARIANCE_FLOOR,
    leave_one_out_blocks,
    leave_one_out_moments,
    moment_blocks,
)
from tests.stats import oracle


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ddof", [0, 1])
def test_equal_the_slow_loop(dtype: type, ddof: int) -> None:
    scores, members = oracle.random_case(0, dtype=dtype)
    moments = leave_one_out_moments(scores, members, ddof=ddof)
    expected = {
        "mean_in": lambda t, i, o: i.mean(),
        "var_in": lambda t, i, o: oracle.variance(i, ddof),
        "n_in": lambda t, i, o: len(i),
        "mean_out": lambda t, i, o: o.mean(),
        "var_out": lambda t, i, o: oracle.variance(o, ddof),
        "n_out": lambda t, i, o: len(o),
    }
    for name, function in expected.items():
        slow = oracle.each_entry(function, scores, members)
        np.testing.assert_allclose(getattr(moments, name), slow, rtol=1e-6, err_msg=name)


def test_a_huge_offset_and_a_far_target_cost_no_digits() -> None:
    scores, members = oracle.random_case(1)
    scores += 1e6
    scores[0] += 1e3 * scores[1:].std(axis=0)
    moments = leave_one_out_moments(scores, members)
    slow = oracle.each_entry(lambda t, i, o: oracle.variance(i), scores, members)
    np.testing.assert_allclose(moments.var_in, slow, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    num_models=st.integers(1, 19),
    num_records=st.integers(1, 23),
    fraction=st.floats(0.02, 0.98),
    seed=st.integers(0, 1000),
)
def test_any_shape_and_fraction(
    num_models: int, num_records: int, fraction: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(50, 1, (num_models, num_records))
    members = rng.random((num_models, num_records)) < fraction
    moments = leave_one_out_moments(scores, members)
    count = moments.n_in + moments.n_out
    assert (count == num_models - 1).all()
    for kind in ("in", "out"):
        n = getattr(moments, f"n_{kind}")
        np.testing.assert_array_equal(np.isnan(getattr(moments, f"mean_{kind}")), n < 1)
        np.testing.assert_array_equal(np.isnan(getattr(moments, f"var_{kind}")), n < 2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_follow_permutations_of_models_and_records(seed: int) -> None:
    scores, members = oracle.random_case(seed, 15, 9)
    rng = np.random.default_rng(seed)
    order = np.ix_(rng.permutation(15), rng.permutation(9))
    plain = leave_one_out_moments(scores, members)
    permuted = leave_one_out_moments(scores[order], members[order])
    np.testing.assert_allclose(permuted.mean_out, plain.mean_out[order], rtol=1e-9)
    np.testing.assert_allclose(permuted.var_in, plain.var_in[order], rtol=1e-9)


def test_constant_records_have_the_floor_and_no_deviation() -> None:
    _, members = oracle.random_case(2)
    scores = np.full(members.shape, 27.631021, dtype=np.float32) * np.linspace(-1, 3e4, 41)
    (block,) = leave_one_out_blocks(scores.astype(np.float32), members)
    for kind in ("in", "out"):
        deviation, variance = block.left_out(kind)
        assert (deviation == 0).all()
        assert (variance == VARIANCE_FLOOR).all()


def test_given_moments_are_read_like_computed_ones() -> None:
    scores, members = oracle.random_case(3)
    given_moments = leave_one_out_moments(scores, members)
    for computed, given_block in zip(
        moment_blocks(scores, members), moment_blocks(scores, members, given_moments), strict=True
    ):
        for kind in ("in", "out"):
            for ours, theirs in zip(
                computed.left_out(kind), given_block.left_out(kind), strict=True
            ):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(computed.shadows(kind), given_block.shadows(kind))


def test_mistakes_are_named() -> None:
    scores, members = oracle.random_case(4)
    with pytest.raises(ValueError, match="must both be"):
        leave_one_out_moments(scores, members[:, 1:])
    with pytest.raises(ValueError, match="boolean"):
        leave_one_out_moments(scores, members.astype(int))
    with pytest.raises(ValueError, match="floating-point"):
        leave_one_out_moments(members.astype(int), members)
    scores[3, 7] = np.nan
    with pytest.raises(ValueError, match="record 7 are not finite"):
        leave_one_out_moments(scores, members)
