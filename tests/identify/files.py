"""Score files for tests: the same records written as every kind of file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mia_audit.identify.settings import IdentifyConfig

KINDS = (".csv", ".tsv", ".parquet", ".jsonl", ".npy")


def write(path: Path, frame: pd.DataFrame) -> Path:
    """`frame` in the format of `path`'s ending; a .npy holds column score alone."""
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, index=False, sep="\t")
        case ".parquet":
            frame.to_parquet(path, index=False)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True, double_precision=15)
        case ".npy":
            np.save(path, frame["score"].to_numpy())
    return path


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def records(size: int, *, prefix: str, members: int = 0, seed: int = 0) -> pd.DataFrame:
    """Normal scores under text ids, the first `members` of them 2.5 higher, and a covariate."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"{prefix}{i:04d}" for i in range(size)],
            "score": rng.normal(size=size) + 2.5 * (np.arange(size) < members),
            "length": rng.integers(20, 200, size),
            "source": rng.choice(["web", "books"], size),
        }
    )


def written(folder: Path, **changes: Any) -> IdentifyConfig:
    """A configuration of 300 calibration records and 200 candidates, half of them members."""
    write(folder / "calibration.csv", records(300, prefix="known", seed=1))
    write(folder / "candidates.csv", records(200, prefix="new", members=100, seed=2))
    settings: dict[str, Any] = {
        "calibration": str(folder / "calibration.csv"),
        "candidates": str(folder / "candidates.csv"),
        "higher_is_member": True,
        "output": str(folder / "selected.csv"),
        "figure": str(folder / "selected.png"),
    }
    return IdentifyConfig(**{**settings, **changes})
