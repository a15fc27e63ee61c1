"""The files of a run: tables, texts and pictures in one upload, arrays one at a time."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.tracking.address import mask_passwords
from mia_audit.tracking.tables import Row, table_json

if TYPE_CHECKING:
    from mlflow import MlflowClient

MIB = 2**20


def log_files(
    client: "MlflowClient",
    run_id: str,
    *,
    tables: Mapping[str, Sequence[Row]],
    files: Mapping[str, Path | bytes | str],
) -> None:
    """Log all under their artifact paths; a str is the text itself, a Path the file to copy."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in tables.items():
            _write(Path(folder) / name, table_json(rows))
        for name, content in files.items():
            _write(Path(folder) / name, content)
        client.log_artifacts(run_id, folder)


def log_arrays(
    client: "MlflowClient",
    run_id: str,
    arrays: Mapping[str, np.ndarray],
    *,
    max_mb: int,
    store_url: str,
) -> None:
    """Log arrays as `.npy`; one above max_mb MiB as `<name>.json`, naming the store that has it."""
    for name, array in arrays.items():
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            staged = Path(folder) / path.name
            if array.nbytes <= max_mb * MIB:
                np.save(staged, array, allow_pickle=False)
            else:
                staged = staged.with_suffix(".json")
                staged.write_text(_pointer(array, max_mb, store_url), encoding="utf-8")
            parent = path.parent.as_posix()
            client.log_artifact(run_id, str(staged), None if parent == "." else parent)


def _pointer(array: np.ndarray, max_mb: int, store_url: str) -> str:
    pointer = {
        "store": mask_passwords(store_url),
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "megabytes": round(array.nbytes / MIB, 1),
        "reason": f"larger than tracking.max_scores_mb={max_mb}",
    }
    return json.dumps(pointer, indent=1)


def _write(path: Path, content: Path | bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(mask_passwords(content), encoding="utf-8")
    else:
        path.write_bytes(content.read_bytes() if isinstance(content, Path) else content)
