"""A user's own table: any CSV or Parquet file with a column of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.columns import Understood, categories, numbers, to_numbers, understand
from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Categorical, Column, Encoding, Numeric, encode_columns
from mia_audit.data.reading import Reading, did_you_mean, read_table
from mia_audit.data.target import Target, label_text, read_target

if TYPE_CHECKING:
    import pandas as pd

LISTED = 20
FIRST = 100
LEAST_SHARE = 0.5
UNNAMED = ("unnamed_", "Unnamed: ", "__index_level_")


@dataclass
class Table:
    """A CSV or Parquet file of the user's, local or at any fsspec address (s3://, https:// …).

    Types are inferred; ``numeric`` and ``categorical`` overrule, ``drop`` leaves columns out.
    Numbers are standardised by the whole table's mean and standard deviation. What was
    understood stands in the data set's notes, a sentence each.

    Attributes:
        path, target: the file, and the column to predict (text, booleans or whole numbers).
        max_categories: a text column with more levels keeps the most frequent and ``other``.
        separator: of a CSV file; found out when null.
    """

    path: str
    target: str
    pool: int | None = None
    balanced: bool = False
    encoding: Encoding = Encoding.one_hot
    numeric: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    max_categories: int = 50
    separator: str | None = None

    @property
    def name(self) -> str:
        """The file's name without folder and ending."""
        return PurePosixPath(self.path.replace("\\", "/")).name.split(".")[0] or "table"

    def load(self) -> Dataset:
        """Read and encode every row with a label.

        Raises:
            ValueError: the file, the target or a named column is not there, or nothing is left
                to audit; one sentence each.
        """
        if self.max_categories < 2:
            raise ValueError(f"dataset.max_categories={self.max_categories}: at least 2.")
        reading = read_table(self.path, self.separator)
        self._check_names(reading)
        target = read_target(reading.frame[self.target], self.target)
        frame, dropped = self._features(reading)
        frame = frame.iloc[target.rows].reset_index(drop=True)
        known = [self._understand(frame[name], name) for name in frame.columns]
        described = [(item.column, item.values) for item in known if item.column is not None]
        notes = [*reading.notes, *target.notes, *dropped]
        notes += [note for item in known for note in item.notes]
        if not described:
            raise ValueError(
                f"dataset.path={self.path} leaves no column to learn from: {' '.join(notes)}"
            )
        return self._encode(described, target, notes)

    def _encode(
        self, described: list[tuple[Column, pd.Series]], target: Target, notes: list[str]
    ) -> Dataset:
        import pandas as pd

        columns = [column for column, _ in described]
        table = pd.DataFrame({column.name: values for column, values in described})
        encoded = encode_columns(table, columns, self.encoding)
        notes += _copies(table, target.y)
        return Dataset(
            name=self.name,
            X=encoded.X,
            y=target.y,
            feature_names=tuple(encoded.names),
            feature_kinds=tuple(encoded.kinds),
            class_names=target.class_names,
            rows=target.rows,
            notes=(*_overview(columns, self.encoding), *notes),
        )

    def _check_names(self, reading: Reading) -> None:
        names = list(reading.frame.columns)
        if self.target not in names:
            listed = ", ".join(names[:LISTED]) + (" …" if len(names) > LISTED else "")
            raise ValueError(
                f"dataset.target={self.target} is not a column of {self.path}"
                f"{did_you_mean(self.target, names)}; its columns are {listed}."
            )
        lists = {"numeric": self.numeric, "categorical": self.categorical, "drop": self.drop}
        for key, listed_names in lists.items():
            for name in listed_names:
                if name not in names:
                    raise ValueError(
                        f"dataset.{key} lists {name!r}, which is not a column of {self.path}"
                        f"{did_you_mean(name, names)}."
                    )
                if name == self.target:
                    raise ValueError(f"dataset.{key} lists {name!r}, which is the target.")
        both = sorted(set(self.numeric) & set(self.categorical))
        if both:
            raise ValueError(f"Column {both[0]!r} is in dataset.numeric and dataset.categorical.")

    def _features(self, reading: Reading) -> tuple[pd.DataFrame, list[str]]:
        """The columns to learn from: without the target, copies of it, and row counters."""
        frame, notes = reading.frame, []
        left_out = {self.target, *self.drop}
        labels = label_text(frame[self.target])
        for name in frame.columns.difference([*left_out], sort=False):
            if _is_counter(frame[name], name):
                notes.append(f"Column {name!r} only counts the rows and is left out.")
            elif _repeats(frame[name], labels):
                notes.append(f"Column {name!r} repeats the target and is left out.")
            elif name in reading.repeated.get(self.target, []):
                raise ValueError(
                    f"{self.path} has several columns {self.target!r} with different values: "
                    "rename the target."
                )
            else:
                continue
            left_out.add(name)
        return frame.drop(columns=[*left_out]), notes

    def _understand(self, values: pd.Series, name: str) -> Understood:
        if name in self.categorical:
            return categories(values, name, max_categories=self.max_categories, wanted=True)
        if name in self.numeric:
            share = to_numbers(values).notna().sum() / max(values.notna().sum(), 1)
            if share < LEAST_SHARE:
                raise ValueError(
                    f"dataset.numeric lists {name!r}, but only {share:.0%} of its values are "
                    "numbers."
                )
            return numbers(values, name)
        return understand(values, name, max_categories=self.max_categories)


def _is_counter(values: pd.Series, name: str) -> bool:
    """Whether an unnamed column, or one pandas made of an index, holds 0, 1, 2 … or 1, 2, 3 …"""
    if not name.startswith(UNNAMED):
        return False
    x = to_numbers(values).to_numpy()
    return any(np.array_equal(x, np.arange(len(x)) + start) for start in (0, 1))


def _repeats(values: pd.Series, labels: pd.Series) -> bool:
    """Whether a column holds the labels; the first rows settle it for nearly all columns."""
    if not label_text(values.iloc[:FIRST]).equals(labels.iloc[:FIRST]):
        return False
    return label_text(values).equals(labels)


def _copies(table: pd.DataFrame, y: NDArray[np.int64]) -> list[str]:
    repeats = int(table.assign(**{"\0label": y}).duplicated().sum())
    if not repeats:
        return []
    return [
        f"Exact copies of an earlier record: {repeats:,}; a non-member whose copy was trained on "
        "looks like a member."
    ]


def _overview(columns: list[Column], encoding: Encoding) -> list[str]:
    """What was taken for a number and what for a category."""
    groups = {
        "numeric": [column.name for column in columns if isinstance(column, Numeric)],
        "categorical": [
            f"{column.name} ({len(column.levels)})"
            for column in columns
            if isinstance(column, Categorical)
        ],
    }
    notes = [
        f"{len(names):,} {kind} columns: {', '.join(names[:LISTED])}"
        + (f" and {len(names) - LISTED:,} more." if len(names) > LISTED else ".")
        for kind, names in groups.items()
        if names
    ]
    if encoding is Encoding.one_hot and groups["numeric"]:
        notes.append("Numbers are standardised by the whole table's mean and standard deviation.")
    return notes
