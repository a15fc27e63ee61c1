"""The classifier test: silent where tables are alike, loud where they are not."""

import numpy as np
import pandas as pd
import pytest

from mia_audit.identify.exchangeability import check_comparable, compare_covariates


def table(size: int, seed: int, *, longer: float = 0.0, web: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    length = rng.normal(100 + longer, 30, size)
    length[rng.random(size) < 0.05] = np.nan
    return pd.DataFrame(
        {"length": length, "source": np.where(rng.random(size) < web, "web", "books")}
    )


@pytest.mark.parametrize("change", [{"longer": 20.0}, {"web": 0.75}])
def test_a_shift_of_either_kind_of_column_is_seen(change: dict[str, float]) -> None:
    found = compare_covariates(table(600, 0), table(500, 1, **change), seed=0)
    assert found.auc > 0.58
    assert found.p_value < 1e-4
    assert "length, source" in found.warning
    assert "guarantee" in found.warning


def test_tables_that_are_alike_are_not_told_apart() -> None:
    found = compare_covariates(table(600, 0), table(500, 1), seed=0)
    assert found.warning == ""
    assert abs(found.auc - 0.5) < 0.06


def test_a_difference_that_no_single_column_shows_is_seen() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 800, 2))
    first[:, 1] = np.abs(first[:, 1]) * np.sign(first[:, 0])
    names = ["a", "b"]
    found = compare_covariates(
        pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names), seed=0
    )
    assert found.auc > 0.65


def test_the_same_seed_gives_the_same_answer() -> None:
    first, second = table(100, 0), table(100, 1)
    assert compare_covariates(first, second, seed=3) == compare_covariates(first, second, seed=3)


def test_too_few_records_are_refused() -> None:
    check_comparable(20, 20)
    with pytest.raises(ValueError, match="covariates"):
        check_comparable(19, 1000)


@pytest.mark.slow
def test_p_values_are_right_where_tables_are_alike() -> None:
    """Also with few distinct values, where z-scores of neighbouring folds go together."""
    repeats = 300
    p_values = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        first, second = (
            pd.DataFrame({"length": rng.integers(10, 100, size)}) for size in (150, 250)
        )
        p_values.append(compare_covariates(first, second, seed=seed).p_value)
    for level in (0.02, 0.05, 0.1):
        error = np.sqrt(level * (1 - level) / repeats)
        assert np.mean(np.array(p_values) <= level) <= level + 3 * error
