"""Categories as codes: what one-hot encoding spread out comes back in one column."""

import numpy as np
import pytest

from mia_audit.data import Adult, CreditDefault, GermanCredit
from mia_audit.data.codes import category_codes
from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Encoding


@pytest.mark.parametrize("noun", [GermanCredit, CreditDefault])
def test_a_one_hot_table_has_the_codes_of_the_coded_one(noun: type) -> None:
    one_hot = category_codes(noun().load())
    coded = noun(encoding=Encoding.codes).load()
    assert one_hot.shape == coded.X.shape
    for at, kind in enumerate(coded.feature_kinds):
        if kind == "code":
            np.testing.assert_array_equal(one_hot[:, at], coded.X[:, at])
        else:  # standardised there, raw here
            assert np.corrcoef(one_hot[:, at], coded.X[:, at])[0, 1] == pytest.approx(1)


def test_missing_is_one_more_level_of_adult() -> None:
    adult = Adult().load()
    codes = category_codes(adult)
    assert codes.shape == (48_842, 14)
    levels = [name for name in adult.feature_names if name.startswith("occupation=")]
    at = [name.partition("=")[0] for name in adult.feature_names]
    column = list(dict.fromkeys(at)).index("occupation")
    share = np.mean(codes[:, column] == levels.index("occupation=missing"))
    assert share == pytest.approx(2809 / 48_842)


def _table(X: list[list[int]], names: tuple[str, ...], kinds: tuple[str, ...]) -> Dataset:
    zeros = np.zeros(len(X), dtype=np.int64)
    return Dataset("t", np.array(X, dtype=np.float32), zeros, names, kinds, ("a",), zeros)


def test_what_is_no_block_stays() -> None:
    names = ("n", "n=missing", "a=b", "a=c", "k")
    kinds = ("numeric", "one_hot", "one_hot", "one_hot", "code")
    table = _table([[5, 1, 0, 1, 3], [6, 0, 1, 0, 4]], names, kinds)
    assert category_codes(table).tolist() == [[5, 1, 1, 3], [6, 0, 0, 4]]
    # Two columns whose names begin alike are no block: a record has two of theirs set.
    alike = _table(
        [[1, 0, 1, 0], [0, 1, 0, 1]], ("a=x=1", "a=x=2", "a=y=1", "a=y=2"), ("one_hot",) * 4
    )
    assert category_codes(alike).tolist() == alike.X.tolist()
