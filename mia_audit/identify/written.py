"""The selection as a CSV file: every candidate, in the input's own order, under its own id."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.identify.selecting import Identified

if TYPE_CHECKING:
    import pandas as pd

HEADER = "id,score,p_value,scaled_p_value,selected,fdp_bound\n"


def write_selection(result: Identified, path: str | Path) -> None:
    """Write `path` whole or not at all.

    Columns: id (the position from 0 in files without ids), score as in the file, p_value (of
    being no member), scaled_p_value, selected (true or false), and fdp_bound: the bound on the
    share of non-members among all candidates with a p-value no larger.
    """
    import pyarrow as pa
    from pyarrow import csv

    candidates, selection = result.sources.candidates, result.selection
    ids = np.arange(len(candidates)) if candidates.ids is None else candidates.ids
    quoting = "needed" if _needs_quotes(candidates.ids) else "none"
    table = pa.table(
        {
            "id": pa.array(ids),
            "score": candidates.scores,
            "p_value": selection.p_values,
            "scaled_p_value": selection.scaled_p_values,
            "selected": result.is_selected,
            "fdp_bound": result.bounds,
        }
    )
    target = Path(path).expanduser()
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(HEADER.encode())
            csv.write_csv(
                table, file, csv.WriteOptions(include_header=False, quoting_style=quoting)
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _needs_quotes(ids: pd.Series | None) -> bool:
    return ids is not None and bool(ids.str.contains('[,"\r\n]', regex=True).any())
