"""Understand a column of a user's table: numbers, dates or categories, and what becomes of it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.data.encoding import MISSING, OTHER, Categorical, Column, Numeric, as_text

if TYPE_CHECKING:
    import pandas as pd

MOSTLY_NUMBERS = 0.95
LARGEST = float(np.finfo(np.float32).max)
EXACT_INTEGER = 2.0**53
ISO_DATE = (
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)


@dataclass(frozen=True, eq=False)
class Understood:
    """A column's values, cleaned, and how to encode them; no column where it is left out."""

    values: pd.Series
    column: Column | None
    notes: tuple[str, ...] = ()


def understand(values: pd.Series, name: str, *, max_categories: int) -> Understood:
    """Infer what a column holds.

    Numbers, and text of which 95 % are numbers, are numeric; dates are days since 1970;
    all else is categories.
    """
    import pandas as pd

    kind = values.dtype
    if values.isna().all():
        return _left_out(values, f"Column {name!r} has no values and is left out.")
    if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind):
        return categories(values, name, max_categories=max_categories)
    if pd.api.types.is_numeric_dtype(kind):
        return numbers(values, name)
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        return dates(values, name)
    first = values.dropna().iloc[0]
    if isinstance(first, list | dict | tuple | set | np.ndarray):
        return _left_out(values, f"Column {name!r} holds lists or records and is left out.")
    if isinstance(first, datetime.date):
        return dates(pd.to_datetime(values, errors="coerce", utc=True), name)
    parsed = to_numbers(values)
    if isinstance(first, Decimal) or parsed.notna().sum() >= MOSTLY_NUMBERS * values.notna().sum():
        return numbers(values, name)
    dated = to_dates(values)
    if dated is not None:
        return dates(dated[0], name, dated[1])
    return categories(values, name, max_categories=max_categories)


def to_numbers(values: pd.Series) -> pd.Series:
    """float64 [N], NaN for what is no number."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values.dtype):
        return pd.Series(values.to_numpy(dtype=np.float64, na_value=np.nan), index=values.index)
    text = values.astype(object).where(values.notna(), None)
    text = text.map(lambda x: str(x) if isinstance(x, Decimal | int) else x)
    return pd.to_numeric(text, errors="coerce").astype(np.float64)


def numbers(values: pd.Series, name: str) -> Understood:
    """A numeric column: infinite values count as missing, missing ones become the median."""
    x = to_numbers(values)
    notes = []
    unread = values[values.notna() & x.isna()]
    if len(unread):
        notes.append(
            f"Column {name!r}: {_count(len(unread), 'value')} such as {str(unread.iloc[0])!r} "
            "are no numbers and count as missing."
        )
    infinite = x.abs() > LARGEST
    if infinite.any():
        notes.append(
            f"Column {name!r}: {_count(int(infinite.sum()), 'value')} infinite or beyond "
            f"{LARGEST:.1e} count as missing."
        )
    x = x.where(~infinite)
    present = x.dropna()
    if present.empty:
        return _left_out(values, f"Column {name!r} has no finite values and is left out.")
    if present.min() == present.max():
        return _constant(values, x, name, as_text(values[x.notna()]).iloc[0], notes)
    fill = None
    if len(present) < len(x):
        fill = float(present.median())
        notes.append(
            f"Column {name!r}: {_count(len(x) - len(present), 'missing value')} set to the median "
            f"{fill:g} and marked in a column of their own."
        )
    notes += _integer_notes(present, name)
    return Understood(x, Numeric(name, float(present.mean()), float(present.std(ddof=0)), fill),
                      tuple(notes))  # fmt: skip


def _constant(
    values: pd.Series, x: pd.Series, name: str, value: str, notes: Sequence[str]
) -> Understood:
    if x.notna().all():
        return _left_out(values, f"Column {name!r} is always {value} and is left out.")
    note = f"Column {name!r} is either {value} or missing, and was read as categories."
    text = as_text(values).where(x.notna(), None)
    return Understood(
        text.map(lambda _: value, na_action="ignore"),
        Categorical(name, (value, MISSING)),
        (*notes, note),
    )


def _integer_notes(present: pd.Series, name: str) -> list[str]:
    if not np.all(present == np.floor(present)):
        return []
    notes = []
    if present.abs().max() > EXACT_INTEGER:
        notes.append(f"Column {name!r} holds whole numbers beyond 2^53, which are rounded.")
    if present.is_unique and present.max() - present.min() == len(present) - 1 > 1:
        notes.append(
            f"Column {name!r} counts the rows; if it is an identifier, leave it out with "
            f"dataset.drop=[{name}]."
        )
    return notes


def to_dates(values: pd.Series) -> tuple[pd.Series, str] | None:
    """Dates and the order they were read in, where every value is written as a date."""
    import pandas as pd

    text = values.astype(object).map(lambda x: str(x).strip(), na_action="ignore")
    present = pd.Series(text.dropna().unique(), dtype=object)

    def written(pattern: str) -> bool:
        return bool(present.str.fullmatch(pattern).all())

    if written(ISO_DATE):
        form, order = "ISO8601", "year-month-day"
    elif written(r"\d{1,2}\.\d{1,2}\.\d{4}"):
        form, order = "%d.%m.%Y", "day.month.year"
    elif written(r"\d{1,2}/\d{1,2}/\d{4}"):
        day_first = bool((present.str.split("/").str[0].astype(int) > 12).any())
        form, order = (
            ("%d/%m/%Y", "day/month/year") if day_first else ("%m/%d/%Y", "month/day/year")
        )
    else:
        return None
    return pd.to_datetime(text, format=form, errors="coerce", utc=True), order


def dates(values: pd.Series, name: str, order: str = "") -> Understood:
    """Dates as days since 1970-01-01 (durations as days), then as any number."""
    import pandas as pd

    is_date = pd.api.types.is_datetime64_any_dtype(values.dtype)
    if is_date:
        values = values - pd.Timestamp("1970-01-01", tz=values.dt.tz)
    days = numbers(values.dt.total_seconds() / 86_400, name)
    read = f"dates ({order})" if order else "dates" if is_date else "durations"
    since = " since 1970-01-01" if is_date else ""
    note = f"Column {name!r}: {read} became days{since}."
    return Understood(days.values, days.column, (note, *days.notes))


def categories(
    values: pd.Series, name: str, *, max_categories: int, wanted: bool = False
) -> Understood:
    """A categorical column with at most ``max_categories`` levels, a missing one not counted.

    With more, the most frequent are kept and the rest become ``other``; where more than half of
    the values differ the column is left out, unless it is ``wanted`` by the user.
    """
    text = as_text(values).map(lambda x: x.strip() or None, na_action="ignore")
    text = text.where(text.notna(), None)
    counts = text.value_counts()
    missing = bool(text.isna().any())
    if counts.empty:
        return _left_out(values, f"Column {name!r} has no values and is left out.")
    if len(counts) == 1 and not missing:
        return _left_out(values, f"Column {name!r} is always {counts.index[0]!r} and is left out.")
    notes = []
    levels = sorted(counts.index)
    if len(levels) > max_categories:
        if not wanted and 2 * len(levels) > counts.sum():
            return _left_out(
                values,
                f"Column {name!r} has {len(levels):,} different values in {counts.sum():,} rows, "
                "as an identifier or free text has, and is left out; dataset.categorical keeps it.",
            )
        ranked = sorted(levels, key=lambda level: (-counts[level], level))
        levels = sorted(ranked[: max_categories - 1])
        notes.append(
            f"Column {name!r} has {len(ranked):,} categories: the {len(levels)} most frequent are "
            f"kept, the others become {OTHER!r} (dataset.max_categories)."
        )
        levels += [OTHER] * (OTHER not in levels)
    if missing:
        share = _count(int(text.isna().sum()), "missing value")
        notes.append(f"Column {name!r}: {share} became the category {MISSING!r}.")
        levels += [MISSING] * (MISSING not in levels)
    return Understood(text, Categorical(name, tuple(levels)), tuple(notes))


def _left_out(values: pd.Series, note: str) -> Understood:
    return Understood(values, None, (note,))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)
