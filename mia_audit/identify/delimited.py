"""Comma-, semicolon- or tab-separated scores, ids exactly as they stand in the file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mia_audit.data.reading import sniff_separator
from mia_audit.identify.source import SourceFile

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_SNIFFED_BYTES = 1 << 16
_SNIFFED_LINES = 50
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "-nan", "null", "NULL", "None"]


def read_delimited(
    file: SourceFile, wanted: Sequence[str], id_column: str | None
) -> tuple[pd.DataFrame, pd.Series | None]:
    """The `wanted` columns and the ids; a lone column of numbers needs no header.

    Raises ValueError for an empty or irregular file and for missing columns.
    """
    separator, names = _header(file)
    header = 1
    if len(names) == 1 and is_number(names[0]):
        header, names = 0, list(wanted[:1])
    file.require(names, wanted)
    id_name = file.id_name(names, id_column)
    both = id_name if id_name not in wanted else None  # ids that are scores are read as numbers
    columns = list(dict.fromkeys([*wanted, *filter(None, [id_name])]))
    frame = _read(file, separator, header, names, columns, both).to_pandas()
    ids = None if id_name is None else frame[id_name].astype(str).replace("", None)
    return frame[list(wanted)], ids


def _read(
    file: SourceFile, separator: str, header: int, names: list[str], columns: list[str],
    id_name: str | None,
) -> pa.Table:  # fmt: skip
    """A row with too many or too few cells is an error, not a value cut off in silence."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    as_text = {id_name: pa.string()} if id_name is not None else {}
    try:
        table = arrow_csv.read_csv(
            file.path,
            arrow_csv.ReadOptions(column_names=names, skip_rows=header),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=columns,
                column_types=as_text,
                null_values=_MISSING,
                strings_can_be_null=False,  # "NA" as an id is Namibia
            ),
        )
    except pa.ArrowInvalid as fault:
        reason = str(fault).splitlines()[0].removeprefix("CSV parse error: ")
        raise ValueError(f"{file} is not a regular table: {reason.rstrip('. ')}.") from fault
    for column in table.schema:
        if pa.types.is_binary(column.type):
            raise ValueError(f"{file}: column {column.name!r} is not UTF-8 text.")
    return table


def _header(file: SourceFile) -> tuple[str, list[str]]:
    """The separator and the names in the first line."""
    with file.path.open("rb") as stream:
        start = stream.read(_SNIFFED_BYTES)
    if b"\0" in start:
        raise ValueError(f"{file} is not a text file.")
    lines = [line for line in start.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{file} is empty.")
    separator = sniff_separator("\n".join(lines[:_SNIFFED_LINES]))
    row = next(csv.reader(lines[:1], delimiter=separator, skipinitialspace=True))
    return separator, [name.strip() for name in row]


def is_number(text: str) -> bool:
    """Whether a cell reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
