"""The wanted columns of a CSV, Parquet, JSON-lines or .npy file, and its ids as text.

Every error is a ValueError of one sentence that begins with the setting that named the file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mia_audit.external.files import load
from mia_audit.identify.delimited import read_delimited
from mia_audit.identify.source import JSON_LINES, NUMPY, PARQUET, SourceFile

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Columns(NamedTuple):
    """One row a record, in the file's order; `ids` [N] is None where the file has none."""

    frame: pd.DataFrame
    ids: pd.Series | None


def read_columns(file: SourceFile, wanted: Sequence[str], id_column: str | None) -> Columns:
    """The `wanted` columns of a file and its ids; what the columns hold is not checked here.

    Raises ValueError for an unreadable or empty file, a missing column or a missing id.
    """
    frame, ids = _read(file, wanted, id_column)
    if len(frame) == 0:
        raise ValueError(f"{file} holds no records.")
    if ids is not None and ids.isna().any():
        first = int(np.argmax(ids.isna())) + 1
        raise ValueError(f"{file}: {ids.isna().sum():,} records have no id, the first is {first}.")
    return Columns(frame, ids)


def read_json_lines(file: SourceFile) -> list[dict[str, Any]]:
    """One object a line; blank lines are passed over.  ValueError names the line at fault."""
    records = []
    try:
        with file.path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    records.append(_parsed(file, number, line))
    except UnicodeDecodeError as fault:
        raise ValueError(f"{file} is not UTF-8 text.") from fault
    if not records:
        raise ValueError(f"{file} is empty.")
    return records


def columns_of(
    file: SourceFile, records: list[dict[str, Any]], wanted: Sequence[str], id_column: str | None
) -> Columns:
    """The `wanted` columns of records read from JSON lines, None where one lacks a key."""
    import pandas as pd

    names = list(dict.fromkeys(name for record in records[:100] for name in record))
    file.require(names, wanted)
    id_name = file.id_name(names, id_column)
    frame = pd.DataFrame(
        {name: [record.get(name) for record in records] for name in wanted},
        index=range(len(records)),
    )
    if id_name is None:
        return Columns(frame, None)
    values = [record.get(id_name) for record in records]
    return Columns(frame, pd.Series([None if v is None else str(v) for v in values], dtype=object))


def _read(file: SourceFile, wanted: Sequence[str], id_column: str | None) -> Columns:
    if file.suffix in NUMPY:
        return Columns(_read_numpy(file, wanted, id_column), None)
    if file.suffix in JSON_LINES:
        return columns_of(file, read_json_lines(file), wanted, id_column)
    if file.suffix in PARQUET:
        return _read_parquet(file, wanted, id_column)
    return Columns(*read_delimited(file, wanted, id_column))


def _parsed(file: SourceFile, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as fault:
        raise ValueError(f"{file}, line {number}: not JSON ({fault.msg}).") from fault
    if not isinstance(record, dict):
        raise ValueError(f"{file}, line {number}: not a JSON object such as {{…}}.")
    return record


def _read_numpy(file: SourceFile, wanted: Sequence[str], id_column: str | None) -> pd.DataFrame:
    import pandas as pd

    try:
        array = load(file.path)
    except ValueError as fault:
        raise ValueError(f"{file.key}={fault}") from fault
    if array.size != max(array.shape, default=0):
        raise ValueError(f"{file} is {list(array.shape)}: one score a record is needed.")
    missing = [*wanted[1:], *filter(None, [id_column])]
    if missing:
        raise ValueError(f"{file} has no column {missing[0]!r}: a .npy file holds scores alone.")
    return pd.DataFrame({wanted[0]: array.reshape(-1)})


def _read_parquet(file: SourceFile, wanted: Sequence[str], id_column: str | None) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(file.path)
        names = source.schema_arrow.names
        file.require(names, wanted)
        id_name = file.id_name(names, id_column)
        table = source.read(columns=list(dict.fromkeys([*wanted, *filter(None, [id_name])])))
        table = table.replace_schema_metadata(None)  # pandas' own may be broken, and is not needed
        frame = table.select(list(wanted)).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:  # names may be no text
        raise ValueError(f"{file} is not a readable Parquet file.") from fault
    if id_name is None:
        return Columns(frame, None)
    try:
        return Columns(frame, _as_text(table.column(id_name)))
    except (pa.ArrowException, UnicodeDecodeError) as fault:  # lists, or bytes that are no text
        raise ValueError(f"{file}: column {id_name!r} holds no ids that are text.") from fault


def _as_text(column: pa.ChunkedArray) -> pd.Series:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()).to_pandas()
