"""Runs whose artifacts are damaged are told from sound ones, in one sentence."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mia_audit.compare.past_runs import read_artifacts
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.tracking.tables import table_json
from tests.compare.sweeps import matrices

(MATRIX,) = matrices((1.0,), num_models=6, num_records=5)


def written(folder: Path) -> list[Path]:
    """The artifacts of a run, in the order in which they are read."""
    paths = [folder / name for name in ("models.json", "scores.npy", "members.npy", "r.parquet")]
    rows = [{"train_accuracy": 0.5, "test_accuracy": float("nan")}] * 6
    paths[0].write_text(table_json(rows))
    np.save(paths[1], MATRIX.scores)
    np.save(paths[2], MATRIX.members)
    pd.DataFrame({"record_id": MATRIX.record_ids}).to_parquet(paths[3])
    return paths


def read(paths: list[Path]) -> ScoreMatrix:
    return read_artifacts(*paths, seconds=1.0)


def test_sound_artifacts_are_the_matrix(tmp_path: Path) -> None:
    matrix = read(written(tmp_path))
    np.testing.assert_array_equal(matrix.scores, MATRIX.scores)
    np.testing.assert_array_equal(matrix.members, MATRIX.members)
    assert matrix.train_accuracy.tolist() == [0.5] * 6
    assert np.isnan(matrix.test_accuracy).all()


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\x93NUMPY", b"PAR1", b'{"columns": 3}'])
@pytest.mark.parametrize("which", range(4))
def test_damage_is_one_sentence(tmp_path: Path, which: int, content: bytes) -> None:
    paths = written(tmp_path)
    paths[which].write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged|is not a readable"):
        read(paths)


def test_scores_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    paths = written(tmp_path)
    np.save(paths[1], MATRIX.scores.astype(complex))
    with pytest.raises(ValueError, match=r"holds complex.*, not numbers"):
        read(paths)
