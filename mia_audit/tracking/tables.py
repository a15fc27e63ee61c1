"""Tables as the JSON that MLflow's page shows as a sortable table: `columns` and rows of `data`."""

import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

import numpy as np

Row = Mapping[str, object]


def table_json(rows: Sequence[Row]) -> str:
    """Rows as one JSON text. Columns in the order first seen; NaN, infinities and gaps are null.

    Numbers keep nine significant digits (all of a float32): seventeen are cut off on the page.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    data = [[_plain(row.get(name)) for name in columns] for row in rows]
    return json.dumps({"columns": columns, "data": data}, allow_nan=False, ensure_ascii=False)


def read_table(path: Path | str) -> list[dict[str, object]]:
    """The rows of a table written by `table_json`."""
    table = json.loads(Path(path).read_text(encoding="utf-8"))
    return [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)
