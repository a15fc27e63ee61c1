"""Column descriptions: fills, unknown and missing levels."""

import numpy as np
import pandas as pd
import pytest

from mia_audit.data.encoding import Categorical, Encoding, Numeric, encode_columns

FRAME = pd.DataFrame({"x": [1.0, np.nan, 5.0], "c": ["b", None, "z"]})


def test_missing_number_is_filled_and_marked() -> None:
    column = Numeric("x", mean=3.0, sd=2.0, fill=4.0)
    encoded = encode_columns(FRAME, [column], Encoding.one_hot)
    np.testing.assert_array_equal(encoded.X, [[-1, 0], [0.5, 1], [1, 0]])
    assert encoded.names == ["x", "x=missing"]
    assert encoded.kinds == ["numeric", "one_hot"]
    raw = encode_columns(FRAME, [column], Encoding.codes)
    np.testing.assert_array_equal(raw.X, [[1, 0], [4, 1], [5, 0]])
    assert raw.kinds == ["numeric", "code"]


def test_missing_and_other_levels() -> None:
    column = Categorical("c", ("a", "b", "other", "missing"))
    encoded = encode_columns(FRAME, [column], Encoding.codes)
    np.testing.assert_array_equal(encoded.X, [[1], [3], [2]])
    one_hot = encode_columns(FRAME, [column], Encoding.one_hot)
    np.testing.assert_array_equal(one_hot.X, np.eye(4)[[1, 3, 2]])
    assert one_hot.names == ["c=a", "c=b", "c=other", "c=missing"]


def test_values_that_are_not_foreseen_are_refused() -> None:
    with pytest.raises(ValueError, match="'c' holds 'z'"):
        encode_columns(FRAME, [Categorical("c", ("b", "missing"))], Encoding.codes)
    with pytest.raises(ValueError, match="'x' has missing values"):
        encode_columns(FRAME, [Numeric("x", 0.0, 1.0)], Encoding.one_hot)
