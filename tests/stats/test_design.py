import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mia_audit.stats import draw_members, model_seeds


@pytest.mark.parametrize("design", ["bernoulli", "fixed_size"])
@settings(max_examples=20, deadline=None)
@given(
    few=st.integers(1, 9),
    more=st.integers(0, 9),
    num_records=st.integers(3, 31),
    fraction=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
)
def test_more_models_extend_fewer(
    design: str, few: int, more: int, num_records: int, fraction: float, seed: int
) -> None:
    options = {"design": design, "fraction": fraction, "seed": seed}
    large = draw_members(few + more, num_records, **options)
    assert large.dtype == bool
    np.testing.assert_array_equal(large[:few], draw_members(few, num_records, **options))


def test_bernoulli_draws_each_entry_at_the_fraction() -> None:
    members = draw_members(400, 301, fraction=0.3, seed=1)
    assert abs(members.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / members.size)
    # Independent between models and between records: no covariance beyond its sampling error.
    correlation = np.corrcoef(members.T)
    off_diagonal = correlation[~np.eye(301, dtype=bool)]
    assert abs(off_diagonal.mean()) < 4 / np.sqrt(400 * 301)
    assert off_diagonal.std() == pytest.approx(1 / np.sqrt(400), rel=0.05)


@pytest.mark.parametrize(("num_records", "fraction", "size"), [(101, 0.5, 51), (9, 0.3, 3)])
def test_fixed_size_gives_every_model_the_same_number(
    num_records: int, fraction: float, size: int
) -> None:
    members = draw_members(50, num_records, design="fixed_size", fraction=fraction)
    assert (members.sum(axis=1) == size).all()
    assert (members != members[0]).any()


@pytest.mark.parametrize(("num_models", "fraction", "times"), [(10, 0.5, 5), (20, 0.25, 5)])
def test_balanced_puts_every_record_in_equally_many_models(
    num_models: int, fraction: float, times: int
) -> None:
    members = draw_members(num_models, 333, design="balanced", fraction=fraction, seed=2)
    assert (members.sum(axis=0) == times).all()
    spread = members.mean(axis=1)
    assert abs(spread - fraction).max() < 5 * np.sqrt(fraction * (1 - fraction) / 333)


@pytest.mark.parametrize("design", ["bernoulli", "balanced", "fixed_size"])
def test_the_seed_decides(design: str) -> None:
    first, again, other = (draw_members(8, 50, design=design, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.3


def test_model_seeds_extend_and_differ() -> None:
    seeds = model_seeds(200, seed=3)
    assert seeds.dtype == np.int64
    assert (seeds >= 0).all()
    assert len(np.unique(seeds)) == 200
    np.testing.assert_array_equal(seeds[:50], model_seeds(50, seed=3))
    assert not np.isin(seeds, model_seeds(200, seed=4)).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "paired"}, "unknown design 'paired'"),
        ({"fraction": 1.0}, "fraction must lie"),
        ({"seed": -1}, "non-negative"),
        ({"design": "balanced", "num_models": 7}, "even num_models"),
        ({"design": "fixed_size", "num_records": 3, "fraction": 0.1}, "training sets of 0"),
        ({"num_models": 0}, "num_models must be at least 1"),
        ({"num_records": 0}, "num_records must be at least 1"),
    ],
)
def test_mistakes_are_named(options: dict, message: str) -> None:
    arguments = {"num_models": 8, "num_records": 20} | options
    with pytest.raises(ValueError, match=message):
        draw_members(arguments.pop("num_models"), arguments.pop("num_records"), **arguments)
