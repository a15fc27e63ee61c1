"""Artifacts of logged audits, of any content: compared, or one sentence."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.compare.past_runs import read_artifacts
from mia_audit.tracking.tables import table_json
from tests.compare.sweeps import matrices
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told_directly
from tests.fuzz.spoiling import arrays, npy, spoiled
from tests.fuzz.test_store_folders import JSON
from tests.fuzz.test_tables import as_parquet, frames

(MATRIX,) = matrices((1.0,), num_models=8, num_records=12)
ACCURACY = table_json(
    [
        {"train_accuracy": float(train), "test_accuracy": float(test)}
        for train, test in zip(MATRIX.train_accuracy, MATRIX.test_accuracy, strict=True)
    ]
)


def records() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"record_id": MATRIX.record_ids}).to_parquet(buffer)
    return buffer.getvalue()


SOUND = {
    "models.json": ACCURACY.encode(),
    "scores.npy": npy(MATRIX.scores),
    "members.npy": npy(MATRIX.members),
    "records.parquet": records(),
}
TABLES = st.fixed_dictionaries({"columns": JSON, "data": JSON})
RENAMED = frames().map(lambda frame: frame.rename(columns={"left": "record_id"}))
STRANGE = {
    "models.json": (JSON | TABLES).map(lambda value: json.dumps(value).encode()),
    "scores.npy": arrays().map(npy),
    "members.npy": arrays().map(npy),
    "records.parquet": RENAMED.map(as_parquet),
}
CHANGED = {name: spoiled(text) | STRANGE[name] for name, text in SOUND.items()}
ARTIFACTS = st.one_of(
    st.fixed_dictionaries(CHANGED),
    *(content.map(lambda new, name=name: {name: new}) for name, content in CHANGED.items()),
)


def read(folder: Path) -> None:
    matrix = read_artifacts(*(folder / name for name in SOUND), seconds=1.0)
    assert matrix.scores.dtype == np.float32
    assert np.isfinite(matrix.scores).all()
    assert len(matrix.members) == len(matrix.test_accuracy)


def judge(changed: dict[str, bytes]) -> None:
    with empty_folder() as folder:
        files = SOUND | changed
        for name, content in files.items():
            (folder / name).write_bytes(content)
        status, errors = told_directly(lambda: read(folder))
        check(status, errors)
        assert contents(folder) == files


@inputs(IN_CI)
@given(ARTIFACTS)
def test_any_artifacts(changed: dict[str, bytes]) -> None:
    judge(changed)


@pytest.mark.slow
@inputs(LONG)
@given(ARTIFACTS)
def test_thousands_of_artifacts(changed: dict[str, bytes]) -> None:
    judge(changed)


def test_sound_artifacts_are_read() -> None:
    with empty_folder() as folder:
        for name, content in SOUND.items():
            (folder / name).write_bytes(content)
        assert told_directly(lambda: read(folder)) == (0, "")
