"""Understand a user's column of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.encoding import as_text

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 100
MOST_FRACTIONS = 20


@dataclass(frozen=True, eq=False)
class Target:
    """Labels int64 [N] of the rows int64 [N] that have one, and the names of the classes."""

    y: NDArray[np.int64]
    rows: NDArray[np.int64]
    class_names: tuple[str, ...]
    notes: tuple[str, ...]


def read_target(values: pd.Series, name: str) -> Target:
    """Classes in alphabetical order, or from the smallest number up; rows without one left out.

    Raises:
        ValueError: no label, a single class, or so many that the column must be a quantity.
    """
    text = label_text(values)
    rows = np.flatnonzero(text.notna().to_numpy()).astype(np.int64)
    counts = text.value_counts()
    if len(counts) < 2:
        what = f"the single value {counts.index[0]!r}" if len(counts) else "no values"
        raise ValueError(f"dataset.target={name} has {what}: an audit needs at least two classes.")
    classes = _in_order(list(counts.index))
    if len(classes) > (MOST_FRACTIONS if _has_fractions(classes) else MOST_CLASSES):
        raise ValueError(
            f"dataset.target={name} has {len(classes):,} different values, as a quantity has: "
            "choose a column of classes, or group its values first."
        )
    label = {value: at for at, value in enumerate(classes)}
    notes = []
    if len(rows) < len(text):
        notes.append(
            f"{len(text) - len(rows):,} of {len(text):,} rows have no label and are left out."
        )
    single = [repr(value) for value in classes if counts[value] == 1]
    if single:
        notes.append(
            f"Classes with a single record, which models without it know nothing of: "
            f"{', '.join(single)}."
        )
    y = np.asarray(text.iloc[rows].map(label), dtype=np.int64)
    return Target(y, rows, tuple(classes), tuple(notes))


def label_text(values: pd.Series) -> pd.Series:
    """Labels as trimmed text, None where missing or infinite; 1.0 and 1 are the same label."""
    import pandas as pd

    if pd.api.types.is_float_dtype(values.dtype):
        values = values.where(np.isfinite(values.to_numpy(dtype=np.float64, na_value=np.nan)))
    text = as_text(values).map(lambda x: x.strip() or None, na_action="ignore")
    return text.where(text.notna(), None)


def _in_order(classes: list[str]) -> list[str]:
    try:
        return sorted(classes, key=float)
    except ValueError:
        return sorted(classes)


def _has_fractions(classes: list[str]) -> bool:
    try:
        return any(not float(value).is_integer() for value in classes)
    except ValueError:
        return False
