"""Score files as records: scores in the file's own direction and order, ids kept as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mia_audit.identify.columns import columns_of, read_columns, read_json_lines
from mia_audit.identify.delimited import is_number
from mia_audit.identify.scoring import score_records
from mia_audit.identify.settings import IdentifyConfig, Score
from mia_audit.identify.source import DELIMITED, JSON_LINES, SourceFile, source_file

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Records:
    """N records of one file: scores [N], covariates [N rows], ids [N] or None without any."""

    file: SourceFile
    scores: NDArray[np.float64]
    covariates: pd.DataFrame
    ids: pd.Series | None

    def __len__(self) -> int:
        return self.scores.size


def read_records(path: str, key: str, config: IdentifyConfig, *, covariates: bool) -> Records:
    """The records in the file that setting `key` names; `covariates` says whether to read those.

    Raises ValueError with one sentence naming the file for anything that cannot be used.
    """
    file = source_file(path, key)
    extra = list(dict.fromkeys(config.covariates)) if covariates else []
    if config.score is not None:
        return _read_texts(file, config.score, extra, config.id_column)
    wanted = list(dict.fromkeys([config.column, *extra]))
    found = read_columns(file, wanted, config.id_column)
    scores = _as_scores(found.frame[config.column], file, config.column)
    return Records(file, scores, found.frame[extra], found.ids)


def _read_texts(
    file: SourceFile, score: Score, covariates: list[str], id_column: str | None
) -> Records:
    if file.suffix not in JSON_LINES:
        raise ValueError(
            f"{file}: score={score.value} is computed from JSON lines of"
            " {id, text, token_logprobs}; give a .jsonl file."
        )
    records = read_json_lines(file)
    scores = score_records(file, records, score)
    frame, ids = columns_of(file, records, covariates, id_column)
    return Records(file, scores, frame, ids)


def _as_scores(column: pd.Series, file: SourceFile, name: str) -> NDArray[np.float64]:
    """float64 [N]; ValueError for text and for missing numbers."""
    import pandas as pd

    if column.dtype.kind not in "iuf":
        _refuse_text(column.astype(object).to_numpy(), file, name)
        column = pd.to_numeric(column)
    scores = column.to_numpy(dtype=np.float64, na_value=np.nan)
    missing = np.isnan(scores)
    if missing.any():
        raise ValueError(
            f"{file}: column {name!r} has no number at {missing.sum():,} of {scores.size:,}"
            f" records, the first is record {np.argmax(missing) + 1}; fill these in or leave them"
            " out."
        )
    return scores


def _refuse_text(values: NDArray[np.object_], file: SourceFile, name: str) -> None:
    """ValueError for the first value that is no number; true and false are none."""
    for position, value in enumerate(values):
        if isinstance(value, str | bytes | bool | list | dict):
            if isinstance(value, bytes):  # text that is not UTF-8
                value = value.decode(errors="replace")
            if file.suffix in DELIMITED and is_number(str(value)):  # a number beside the text
                continue
            raise ValueError(
                f"{file}: column {name!r} holds {str(value)[:40]!r} at record {position + 1}, where"
                " a number is needed."
            )
