"""A file that a setting names: it exists, is of a known kind, and has the columns asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mia_audit.data.reading import did_you_mean
from mia_audit.external.files import local_path

DELIMITED = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson", ".json")
NUMPY = (".npy",)

_MOST_LISTED = 12


@dataclass(frozen=True)
class SourceFile:
    """A file that exists, and the setting (`key`) that named it: errors begin with both."""

    path: Path
    key: str

    def __str__(self) -> str:
        return f"{self.key}={self.path}"

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()

    def require(self, names: Sequence[str], wanted: Sequence[str]) -> None:
        """ValueError, with the nearest name, for the first of `wanted` that is not in `names`."""
        for name in wanted:
            if name not in names:
                more = " …" if len(names) > _MOST_LISTED else ""
                raise ValueError(
                    f"{self} has no column {name!r}{did_you_mean(name, names)}; its columns are"
                    f" {', '.join(names[:_MOST_LISTED])}{more}."
                )

    def id_name(self, names: Sequence[str], id_column: str | None) -> str | None:
        """The column that holds the ids, None where positions have to do.

        Without an `id_column` it is one named id, where there is one.
        """
        if id_column is None:
            return "id" if "id" in names else None
        self.require(names, [id_column])
        return id_column


def source_file(path: str, key: str) -> SourceFile:
    """The file that setting `key` names; ValueError unless it is one of a kind that can be read."""
    file = SourceFile(local_path(path, key), key)
    if file.path.is_dir():
        raise ValueError(f"{file} is a folder: name one file in it.")
    if not file.path.is_file():
        folder = file.path.parent
        near = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        raise ValueError(f"{file}: there is no such file{did_you_mean(file.path.name, near)}.")
    if file.suffix not in (*DELIMITED, *PARQUET, *JSON_LINES, *NUMPY):
        kind = f"unknown kind {file.suffix!r}" if file.suffix else "unknown kind"
        raise ValueError(f"{file} is of an {kind}: give a .csv, .parquet, .jsonl or .npy file.")
    return file
