import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mia_audit.stats import base, log_confidence, rmia
from tests.stats import oracle


def confidences(seed: int, num_models: int = 17, num_records: int = 29) -> tuple:
    rng = np.random.default_rng(seed)
    _, members = oracle.random_case(seed, num_models, num_records)
    return log_confidence(rng.normal(1, 2, members.shape) + members), members


@pytest.mark.parametrize("gamma", [0.7, 1.0, 2.0])
@pytest.mark.parametrize("offline_a", [None, 0.0, 0.3, 1.0])
def test_rmia_equals_the_slow_loop(gamma: float, offline_a: float | None) -> None:
    values, members = confidences(0)
    ours = rmia(values, members, gamma=gamma, offline_a=offline_a)
    np.testing.assert_allclose(ours, oracle.rmia(values, members, gamma, offline_a), rtol=1e-6)


def test_rmia_against_reference_records() -> None:
    values, members = confidences(1)
    reference = log_confidence(np.random.default_rng(2).normal(0, 2, (17, 50)))
    ours = rmia(values, members, reference=reference)
    np.testing.assert_allclose(ours, oracle.rmia(values, members, reference=reference), rtol=1e-6)


def test_base_equals_the_slow_loop() -> None:
    values, members = confidences(3)
    np.testing.assert_allclose(base(values, members), oracle.base(values), rtol=1e-6, atol=1e-9)


def test_a_record_one_model_alone_knows_costs_no_digits() -> None:
    """p = 0.5 under one model, e^{-800} under the rest: plain sums would lose it."""
    values, members = confidences(4)
    values[:, 0] = -800.0
    values[3, 0] = np.log(0.5)
    statistic = base(values, members)
    np.testing.assert_allclose(statistic[3, 0], np.log(0.5) + 800, rtol=1e-12)
    assert np.isfinite(statistic).all()
    assert np.isfinite(rmia(values, members)).all()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), num_models=st.integers(9, 16), num_records=st.integers(1, 12))
def test_rmia_follows_permutations(seed: int, num_models: int, num_records: int) -> None:
    values, members = confidences(seed, num_models, num_records)
    rng = np.random.default_rng(seed)
    order = np.ix_(rng.permutation(num_models), rng.permutation(num_records))
    permuted = rmia(values[order], members[order])
    # A rounding of the mean may turn one comparison of a record with an equal one.
    assert np.abs(permuted - rmia(values, members)[order]).max() < 1e-9


def test_missing_shadows_give_nan_in_that_entry_alone() -> None:
    values, members = confidences(5)
    members[:, 0] = False
    members[2, 0] = True
    statistic = rmia(values, members)
    np.testing.assert_array_equal(np.isnan(statistic[:, 0]), members[:, 0])
    assert np.isfinite(statistic[:, 1:]).all()
    assert np.isfinite(rmia(values, members, offline_a=0.3)).all()


def test_mistakes_are_named() -> None:
    values, members = confidences(6)
    with pytest.raises(ValueError, match="pass log p_y"):
        rmia(values + 5, members)
    with pytest.raises(ValueError, match="gamma must be positive"):
        rmia(values, members, gamma=0.0)
    with pytest.raises(ValueError, match="offline_a"):
        rmia(values, members, offline_a=1.5)
    with pytest.raises(ValueError, match=r"reference must be \[17 models"):
        rmia(values, members, reference=values[:3])
    with pytest.raises(ValueError, match="at least 2 models"):
        base(values[:1], members[:1])
