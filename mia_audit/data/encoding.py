"""Turn table columns into a float32 matrix, one column description at a time.

The numbers used (means, standard deviations, lists of levels) belong to the whole table and are
fixed before a pool is drawn, so a record's encoding never depends on which others are audited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

MISSING = "missing"
OTHER = "other"


class Encoding(Enum):
    """How records become numbers: standardised and one-hot, or raw numbers and integer codes."""

    one_hot = "one_hot"
    codes = "codes"


@dataclass(frozen=True)
class Numeric:
    """A column of numbers, standardised as (x − mean)/sd under one-hot encoding.

    With a ``fill`` missing values become that value and a 0/1 column ``name=missing`` says so.
    """

    name: str
    mean: float
    sd: float
    fill: float | None = None

    def encode(self, values: pd.Series, encoding: Encoding) -> Encoded:
        x = values.to_numpy(dtype=np.float64, na_value=np.nan)
        absent = np.isnan(x)
        if absent.any() and self.fill is None:
            raise ValueError(f"Column {self.name!r} has missing values, which is not foreseen.")
        if self.fill is not None:
            x = np.where(absent, self.fill, x)
        scaled = (x - self.mean) / self.sd if encoding is Encoding.one_hot else x
        block, names, kinds = [scaled], [self.name], ["numeric"]
        if self.fill is not None:
            block.append(absent.astype(np.float64))
            names.append(f"{self.name}={MISSING}")
            kinds.append("one_hot" if encoding is Encoding.one_hot else "code")
        return Encoded(np.stack(block, axis=1).astype(np.float32), names, kinds)


@dataclass(frozen=True)
class Categorical:
    """A column of categories with a fixed list of levels; a level's code is its place in it.

    Missing values become the level ``missing`` where that is listed, unknown ones the level
    ``other`` where that is listed.
    """

    name: str
    levels: tuple[str, ...]

    def encode(self, values: pd.Series, encoding: Encoding) -> Encoded:
        codes = self.codes(values)
        if encoding is Encoding.codes:
            return Encoded(codes[:, None].astype(np.float32), [self.name], ["code"])
        block = np.zeros((len(codes), len(self.levels)), dtype=np.float32)
        block[np.arange(len(codes)), codes] = 1
        names = [f"{self.name}={level}" for level in self.levels]
        return Encoded(block, names, ["one_hot"] * len(names))

    def restricted(self, values: pd.Series) -> Categorical:
        """The same column with only the levels that occur."""
        return replace(
            self, levels=tuple(level for level in self.levels if (values == level).any())
        )

    def codes(self, values: pd.Series) -> NDArray[np.int64]:
        """int64 [N], place of each value in ``levels``."""
        import pandas as pd

        text = values.astype(object)
        codes = pd.Index(self.levels, dtype=object).get_indexer(pd.Index(text)).astype(np.int64)
        absent = text.isna().to_numpy()
        for mask, level in ((absent, MISSING), (~absent, OTHER)):
            if level in self.levels:
                codes[mask & (codes < 0)] = self.levels.index(level)
        if (codes < 0).any():
            first = text.iloc[int(np.argmax(codes < 0))]
            raise ValueError(
                f"Column {self.name!r} holds {first!r}, which is none of its known levels."
            )
        return codes


Column = Numeric | Categorical


@dataclass(frozen=True, eq=False)
class Encoded:
    """X float32 [N, F] with a name and a kind for each of its columns."""

    X: NDArray[np.float32]
    names: list[str]
    kinds: list[str]


def encode_columns(frame: pd.DataFrame, columns: Sequence[Column], encoding: Encoding) -> Encoded:
    """Encode the described columns of a table, in the order of the descriptions.

    Raises:
        ValueError: a value that its column's description does not foresee.
    """
    blocks = [column.encode(frame[column.name], encoding) for column in columns]
    return Encoded(
        np.concatenate([block.X for block in blocks], axis=1),
        [name for block in blocks for name in block.names],
        [kind for block in blocks for kind in block.kinds],
    )


def as_text(values: pd.Series) -> pd.Series:
    """Categories as text, whole numbers without a decimal point, missing values as None."""
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(kind):
        codes, levels = pd.factorize(values)  # few levels, written once each
        names = np.array([*(_write(level) for level in levels), None], dtype=object)
        return pd.Series(names[codes], index=values.index, name=values.name, dtype=object)
    text = values.astype(object)
    return text.map(str, na_action="ignore").astype(object).where(text.notna(), None)


def _write(level: object) -> str:
    whole = isinstance(level, float | np.floating) and float(level).is_integer()
    return str(int(level)) if whole else str(level)  # type: ignore[call-overload]
