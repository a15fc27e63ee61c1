"""Tables the package knows: described once, read from the bundled file or from the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Categorical, Column, Encoding, Numeric, as_text, encode_columns
from mia_audit.data.network import Source, fetch

if TYPE_CHECKING:
    import pandas as pd

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True, eq=False)
class KnownTable:
    """What is fixed about a known table: its columns, its classes, and where it comes from.

    Attributes:
        name: the data set's name; the bundled file is ``files/{name}.parquet``.
        columns: the features, in order; their constants are those of the whole table.
        target: the column of labels.
        classes: value of the target → name of the class, in the order of the labels.
        uci_id, openml_id: the table's numbers at UCI and at OpenML.
        normalise: the network's names and spellings → the bundled file's.
        notes: what a reader should know about the table and its encoding.
    """

    name: str
    columns: tuple[Column, ...]
    target: str
    classes: dict[str, str]
    uci_id: int
    openml_id: int
    normalise: Callable[[pd.DataFrame], pd.DataFrame]
    notes: tuple[str, ...]

    def load(self, source: Source, encoding: Encoding) -> Dataset:
        """Read and encode the table; every row under one-hot, complete rows under codes.

        Raises:
            ValueError: the network or a package it needs is missing, or its answer is not the
                table known here.
        """
        frame, notes = self.bundled_frame(), self.notes
        if source is not Source.bundled:
            answer = self.from_network(fetch(source, uci_id=self.uci_id, openml_id=self.openml_id))
            if not same_records(answer, frame):
                frame = answer
                notes += (f"The table of {source.value} differs from the bundled one.",)
        return self.encode(frame, encoding, notes)

    def bundled_frame(self) -> pd.DataFrame:
        """Features and target as bundled, categories as text."""
        import pandas as pd

        return self._canonical(pd.read_parquet(FILES / f"{self.name}.parquet"))

    def from_network(self, answer: pd.DataFrame) -> pd.DataFrame:
        """The network's answer under the bundled file's names, spellings and types."""
        frame = self.normalise(answer)
        wanted = [*(column.name for column in self.columns), self.target]
        absent = [name for name in wanted if name not in frame.columns]
        if absent:
            raise ValueError(
                f"The answer for {self.name} lacks the columns {', '.join(absent)}: use "
                "dataset.source=bundled."
            )
        return self._canonical(frame)

    def _canonical(self, frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        columns = {
            column.name: as_numbers(frame[column.name])
            if isinstance(column, Numeric)
            else as_text(frame[column.name])
            for column in self.columns
        }
        return pd.DataFrame({**columns, self.target: as_text(frame[self.target])})

    def encode(self, frame: pd.DataFrame, encoding: Encoding, notes: tuple[str, ...]) -> Dataset:
        """Encode a frame as bundled_frame and from_network return it."""
        rows = np.arange(len(frame), dtype=np.int64)
        columns = self.columns
        if encoding is Encoding.codes:
            rows = np.flatnonzero(frame.notna().all(axis=1).to_numpy()).astype(np.int64)
            if len(rows) < len(frame):
                notes += (f"{len(frame) - len(rows):,} rows with a missing value are left out.",)
            notes += ("Categories are integer codes in alphabetical order, numbers are raw.",)
            columns = self._with_levels_of(frame.iloc[rows])
        else:
            notes += (
                "Numeric columns are standardised by the mean and standard deviation of the "
                "whole table, without a logarithm where they are skewed; categories are one-hot.",
            )
        kept = frame.iloc[rows]
        encoded = encode_columns(kept, columns, encoding)
        return Dataset(
            name=self.name,
            X=encoded.X,
            y=self._labels(kept[self.target]),
            feature_names=tuple(encoded.names),
            feature_kinds=tuple(encoded.kinds),
            class_names=tuple(self.classes.values()),
            rows=rows,
            notes=notes,
        )

    def _with_levels_of(self, kept: pd.DataFrame) -> tuple[Column, ...]:
        """The papers number the levels that are left once incomplete rows are dropped."""
        return tuple(
            column.restricted(kept[column.name]) if isinstance(column, Categorical) else column
            for column in self.columns
        )

    def _labels(self, target: pd.Series) -> NDArray[np.int64]:
        labels = {value: label for label, value in enumerate(self.classes)}
        unknown = sorted(set(target.astype(str)) - set(labels))
        if unknown:
            raise ValueError(f"{self.name}: the target holds {unknown[0]!r}, which is no class.")
        return np.asarray(target.map(labels), dtype=np.int64)


def as_numbers(values: pd.Series) -> pd.Series:
    """float64 whatever the column came as (OpenML sends some numbers as categories)."""
    import pandas as pd

    return pd.to_numeric(values.astype(object)).astype(np.float64)


def same_records(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether two canonical frames hold the same records, in whatever order."""
    import pandas as pd

    one, other = (np.sort(pd.util.hash_pandas_object(frame, index=False)) for frame in (a, b))
    return bool(np.array_equal(one, other))
