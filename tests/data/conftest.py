"""A user's table, written and read back."""

from pathlib import Path

import pandas as pd
import pytest

from mia_audit.data import Dataset, Table


@pytest.fixture
def load(tmp_path: Path):
    """Write a table (text, bytes or a frame) and read it as a user would."""

    def write_and_load(
        content: str | bytes | pd.DataFrame, target: str = "y", **options
    ) -> Dataset:
        path = tmp_path / options.pop("file", "own.csv")
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Table(str(path), target, **options).load()

    return write_and_load
