"""Read a user's CSV or Parquet file, from a local path or any fsspec address, as it comes."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = (",", ";", "\t", "|")
SNIFFED_ROWS = 50
DECIMAL_COMMA = r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?"
OTHER_FORMATS = {
    b"PK\x03\x04": "a spreadsheet or zip archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"ARROW1": "an Arrow file",
    b"SQLite": "a database",
}


@dataclass(frozen=True, eq=False)
class Reading:
    """A table as read: unique column names, which names the file repeats, and notes."""

    frame: pd.DataFrame
    repeated: dict[str, list[str]] = field(default_factory=dict)  # name → its later columns
    notes: tuple[str, ...] = ()


def read_table(path: str, separator: str | None = None) -> Reading:
    """Read a CSV (any of , ; tab | or the given separator) or Parquet file.

    The content decides, not the file's ending. CSV: UTF-8 with or without a byte-order mark,
    UTF-16, else Windows-1252; compressed files by their ending.

    Raises:
        ValueError: no such file, an empty one, or one that is no table.
    """
    content = read_bytes(path)
    for magic, what in OTHER_FORMATS.items():
        if content.startswith(magic):
            raise ValueError(f"dataset.path={path} is {what}: save it as CSV or Parquet.")
    if content.startswith(b"PAR1") or path.endswith((".parquet", ".pq")):
        return _read_parquet(path, content)
    return _read_csv(path, content, separator)


def read_bytes(path: str) -> bytes:
    """The (decompressed) content of a local file or an fsspec address."""
    import fsspec

    try:
        address = path if "://" in path else str(Path(path).expanduser())
        with fsspec.open(address, "rb", compression="infer") as file:
            return file.read()
    except FileNotFoundError as fault:
        raise ValueError(f"dataset.path={path}: there is no such file{nearest(path)}.") from fault
    except IsADirectoryError as fault:
        raise ValueError(f"dataset.path={path} is a folder: name one file in it.") from fault
    except Exception as fault:  # each file system and codec raises kinds of its own
        reason = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise ValueError(f"dataset.path={path} cannot be read: {reason.rstrip('.')}.") from fault


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``: did you mean 'x'?``-like ending of a sentence, or nothing."""
    known = list(known)
    folded = {other.casefold(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f", did you mean {folded[close[0]]!r}" if close else ""


def nearest(path: str | Path) -> str:
    """The same for a path, by the names in its folder."""
    folder = Path(path).expanduser().parent
    if "://" in str(path) or not folder.is_dir():
        return ""
    return did_you_mean(Path(path).name, (other.name for other in folder.iterdir()))


def _read_parquet(path: str, content: bytes) -> Reading:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(io.BytesIO(content)).read()
        given = table.column_names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:  # names may be no text
        raise ValueError(
            f"dataset.path={path} is not a readable Parquet file: broken or cut short?"
        ) from fault
    names, repeated = unique_names(given)
    return _checked(path, table.rename_columns(names).to_pandas(ignore_metadata=True), repeated, [])


def _read_csv(path: str, content: bytes, separator: str | None) -> Reading:
    import pandas as pd

    text, notes = _decode(path, content)
    if separator is None:
        separator = sniff_separator(text)
    separator = separator.replace("\\t", "\t")
    if len(separator) != 1:
        raise ValueError(f"dataset.separator={separator!r}: one character, or null to find it out.")
    header, fields = _first_rows(text, separator)
    # Rows one field longer than the header: row names in front (R), or a separator at the end.
    longer = bool(fields) and all(len(row) == len(header) + 1 for row in fields)
    trailing = longer and all(row[-1] == "" for row in fields)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            skipinitialspace=True,
            low_memory=False,
            na_values=["?"],
            index_col=False if trailing else None,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as fault:
        reason = str(fault).splitlines()[0].removeprefix("Error tokenizing data. C error: ")
        raise ValueError(
            f"dataset.path={path} is not a regular table: {reason.rstrip('. ')}."
        ) from fault
    names, repeated = unique_names(header)
    if len(names) != frame.shape[1] or (_has_row_names(frame) and not longer):
        raise ValueError(f"dataset.path={path}: a row has more fields than there are columns.")
    if _has_row_names(frame):
        frame = frame.reset_index(drop=True)
        notes.append("The first field of each row has no name and was taken for a row name.")
    frame.columns = pd.Index(names)
    if separator in ";\t":
        notes += _read_decimal_commas(frame)
    return _checked(path, frame, repeated, notes)


def _has_row_names(frame: pd.DataFrame) -> bool:
    import pandas as pd

    return not isinstance(frame.index, pd.RangeIndex)


def _checked(
    path: str, frame: pd.DataFrame, repeated: dict[str, list[str]], notes: list[str]
) -> Reading:
    if len(frame) == 0:
        raise ValueError(f"dataset.path={path} has column names but no rows.")
    for name, later in repeated.items():
        notes.append(f"Column name {name!r} occurs more than once; also read as {_quoted(later)}.")
    return Reading(frame, repeated, tuple(notes))


def _decode(path: str, content: bytes) -> tuple[str, list[str]]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace"), []
    if not content.strip():
        raise ValueError(f"dataset.path={path} is empty.")
    if b"\0" in content[:4096]:
        raise ValueError(f"dataset.path={path} is neither CSV nor Parquet.")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        note = "The file is not UTF-8 and was read as Windows-1252."
        return content.decode("cp1252", errors="replace"), [note]


def sniff_separator(text: str) -> str:
    """The candidate that splits the first rows most regularly, most fields first."""

    def regularity(separator: str) -> tuple[float, int]:
        header, rows = _first_rows(text, separator)
        if len(header) < 2:
            return (0.0, 0)
        regular = sum(len(row) in (len(header), len(header) + 1) for row in rows)
        return (regular / max(len(rows), 1), len(header))

    return max(SEPARATORS, key=regularity)


def _first_rows(text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if any(row):
                rows.append(row)
            if len(rows) > SNIFFED_ROWS:
                break
    except csv.Error:  # a quote that never closes: read_csv says where
        pass
    return (rows[0], rows[1:]) if rows else ([], [])


def unique_names(names: Iterable[object]) -> tuple[list[str], dict[str, list[str]]]:
    """Column names trimmed, made text and unique (``a``, ``a.1``), and which were repeated."""
    unique: dict[str, None] = {}
    repeated: dict[str, list[str]] = {}
    for at, raw in enumerate(names):
        name = str(raw).strip() or f"unnamed_{at}"
        later, count = name, 0
        while later in unique:
            count += 1
            later = f"{name}.{count}"
        if count:
            repeated.setdefault(name, []).append(later)
        unique[later] = None
    return list(unique), repeated


def _read_decimal_commas(frame: pd.DataFrame) -> list[str]:
    """Turn text columns of numbers such as 1,5 into numbers, in place."""
    import pandas as pd

    read = []
    for name in frame.columns:
        present = frame[name].dropna()
        if pd.api.types.is_numeric_dtype(present.dtype) or present.empty:
            continue
        text = present.astype(str)
        if text.str.fullmatch(DECIMAL_COMMA).all() and text.str.contains(",").any():
            plain = frame[name].astype(object).str.replace(".", "").str.replace(",", ".")
            frame[name] = pd.to_numeric(plain)
            read.append(name)
    return [f"The comma in {_quoted(read)} was read as a decimal point."] if read else []


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
