"""The same records from every kind of file, ids as they stand, and one sentence a mistake."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mia_audit.data import Table
from mia_audit.identify.reading import Records, read_records
from mia_audit.identify.settings import IdentifyConfig, Score
from tests.identify.files import KINDS, records, write, write_lines


def read(path: Path, **settings: Any) -> Records:
    return read_records(str(path), "candidates", IdentifyConfig(**settings), covariates=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_records(tmp_path: Path, kind: str) -> None:
    frame = records(50, prefix="r")
    found = read(write(tmp_path / f"scores{kind}", frame))
    np.testing.assert_allclose(found.scores, frame.score, rtol=1e-9)
    if kind == ".npy":
        assert found.ids is None
    else:
        assert found.ids is not None
        assert found.ids.tolist() == frame.id.tolist()


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".jsonl"])
def test_ids_stay_as_they_are(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"id": ["007", "NA", "1e5", "a,b", " x"], "score": [1, 2, 3, 4, 5]})
    found = read(write(tmp_path / f"scores{kind}", frame))
    assert found.ids is not None
    assert found.ids.tolist()[:4] == ["007", "NA", "1e5", "a,b"]


def test_ids_of_any_type_become_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"key": [7, 8], "kind": pd.Categorical(["a", "b"]), "score": [1.0, 2.0]})
    path = write(tmp_path / "scores.parquet", frame)
    assert read(path, id_column="key").ids.tolist() == ["7", "8"]  # type: ignore[union-attr]
    assert read(path, id_column="kind").ids.tolist() == ["a", "b"]  # type: ignore[union-attr]
    assert read(path).ids is None
    lines = write_lines(tmp_path / "scores.jsonl", [{"id": 7, "score": 1}, {"id": "x", "score": 2}])
    assert read(lines).ids.tolist() == ["7", "x"]  # type: ignore[union-attr]


def test_the_id_column_may_hold_the_scores_too(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", pd.DataFrame({"id": [1.5, 2.5]}))
    assert read(path, column="id").scores.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5\n1.5\n-2\n", [0.5, 1.5, -2]),
        ("score\n1\n2\n", [1, 2]),
        ("﻿id;score\na;1.5\nb;inf\n", [1.5, np.inf]),
        ("id, score\na, 1\n\nb, 2\n", [1, 2]),
    ],
)
def test_csv_dialects(tmp_path: Path, text: str, expected: list[float]) -> None:
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    assert read(tmp_path / "scores.csv").scores.tolist() == expected


def test_covariates_come_along(tmp_path: Path) -> None:
    frame = records(20, prefix="r")
    for kind in (".csv", ".parquet", ".jsonl"):
        found = read(write(tmp_path / f"s{kind}", frame), covariates=["length", "source"])
        pd.testing.assert_frame_equal(
            found.covariates.astype(object), frame[["length", "source"]].astype(object)
        )


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"column": "scroe"}, ["no column 'scroe'", "did you mean 'score'", "length"]),
        ({"column": "source"}, ["'source' holds", "at record 1", "number"]),
        ({"id_column": "ids"}, ["no column 'ids'", "did you mean 'id'"]),
        ({"covariates": ["lenght"]}, ["no column 'lenght'", "did you mean 'length'"]),
        ({"score": Score.zlib, "column": "x"}, []),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_wrong_column_is_named_with_the_nearest(
    tmp_path: Path, kind: str, settings: dict[str, Any], words: list[str]
) -> None:
    path = write(tmp_path / f"scores{kind}", records(5, prefix="r"))
    with pytest.raises(ValueError, match=r"^candidates=") as told:
        read(path, **settings)
    for word in [str(path), *words]:
        assert word in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".jsonl", ".npy"])
def test_missing_scores_are_counted(tmp_path: Path, kind: str) -> None:
    frame = records(10, prefix="r")
    frame.loc[[3, 7], "score"] = np.nan
    with pytest.raises(ValueError, match=r"no number at 2 of 10 records, the first is record 4"):
        read(write(tmp_path / f"scores{kind}", frame))


def test_one_word_among_the_numbers_is_found(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("id,score\na,1.5\nb,oops\n")
    with pytest.raises(ValueError, match=r"'score' holds 'oops' at record 2"):
        read(tmp_path / "s.csv")
    for value in (True, [1], "0.5"):
        lines = write_lines(tmp_path / "s.jsonl", [{"score": 1.0}, {"score": value}])
        with pytest.raises(ValueError, match=r"at record 2"):
            read(lines)
    write(tmp_path / "s.parquet", pd.DataFrame({"score": [True, False]}))
    with pytest.raises(ValueError, match=r"'True' at record 1"):
        read(tmp_path / "s.parquet")


def test_missing_ids_are_counted(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("id,score\na,1\n,2\n")
    lines = write_lines(tmp_path / "s.jsonl", [{"id": "a", "score": 1}, {"score": 2}])
    for path in (tmp_path / "s.csv", lines):
        with pytest.raises(ValueError, match="1 records have no id, the first is 2"):
            read(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("empty.jsonl", b"\n", "is empty"),
        ("header.csv", b"id,score\n", "holds no records"),
        ("broken.parquet", b"PAR1 but no more", "not a readable Parquet file"),
        ("binary.csv", b"\0\1\2", "not a text file"),
        ("ragged.csv", b"id,score\na,1\nb,2,3,4\n", "not a regular table"),
        ("lines.jsonl", b'{"score": 1}\n{"score": \n', "line 2: not JSON"),
        ("lines.jsonl", b'{"score": 1}\n[1]\n', "line 2: not a JSON object"),
        ("lines.jsonl", b'{"score": "\xff"}\n', "not UTF-8"),
        ("table.xlsx", b"PK", "unknown kind '.xlsx'"),
        ("table", b"1", "unknown kind"),
        ("broken.npy", b"1", "not a readable .npy file"),
        ("archive.npy", b"PK\x03\x04", "not a readable .npy file"),
        ("bytes.csv", b"id,score\na,1\nb,1\xff0\n", "column 'score' is not UTF-8 text"),
    ],
)
def test_files_that_are_not_what_they_seem(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name) as told:
        read(tmp_path / name)
    assert words in str(told.value)
    assert str(told.value).startswith("candidates=")


def test_a_parquet_column_whose_name_is_no_text(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    table = pa.table({"score": [1.0, 2.0], "näme": ["a", "b"]})
    pq.write_table(table, buffer, store_schema=False)
    (tmp_path / "odd.parquet").write_bytes(buffer.getvalue().replace("ä".encode(), b"\xff\xfe"))
    with pytest.raises(ValueError, match="is not a readable Parquet file"):
        read(tmp_path / "odd.parquet")
    with pytest.raises(ValueError, match="is not a readable Parquet file"):
        Table(str(tmp_path / "odd.parquet"), "score").load()


@pytest.mark.parametrize(
    ("whole", "broken"),
    [(b'"columns": [', b'"columns":[['), (b"pandas_type", b"pandas_t\xffpe")],
    ids=["no JSON", "no text"],
)
def test_what_pandas_notes_in_a_parquet_file_is_not_needed(
    tmp_path: Path, whole: bytes, broken: bytes
) -> None:
    records(30, prefix="r").to_parquet(tmp_path / "given.parquet")
    content = (tmp_path / "given.parquet").read_bytes()
    assert whole in content
    (tmp_path / "odd.parquet").write_bytes(content.replace(whole, broken))
    assert np.array_equal(
        read(tmp_path / "odd.parquet").scores, read(tmp_path / "given.parquet").scores
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"score": [b"1", b"\xff"]}, "column 'score' holds '1' at record 1, where a number"),
        ({"score": [1.0, 2.0], "id": [b"a", b"\xff"]}, "column 'id' holds no ids that are text"),
        ({"score": [1.0, 2.0], "id": [[1], [2]]}, "column 'id' holds no ids that are text"),
    ],
)
def test_parquet_columns_of_another_kind(
    tmp_path: Path, columns: dict[str, list[Any]], words: str
) -> None:
    pd.DataFrame(columns).to_parquet(tmp_path / "odd.parquet")
    with pytest.raises(ValueError, match=words):
        read(tmp_path / "odd.parquet")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    write(tmp_path / "scores.csv", records(5, prefix="r"))
    with pytest.raises(ValueError, match=r"no such file, did you mean 'scores.csv'"):
        read(tmp_path / "score.csv")
    with pytest.raises(ValueError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"candidates=x.*: file name too long"):
        read("x" * 300)
    with pytest.raises(ValueError, match=r"candidates=~nobody-here/x: there is no such user"):
        read("~nobody-here/x")
    with pytest.raises(ValueError, match="not on this machine"):
        read_records("s3://bucket/x.csv", "candidates", IdentifyConfig(), covariates=False)


def test_npy_must_be_one_score_a_record(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.zeros((4, 1)))
    assert len(read(tmp_path / "s.npy")) == 4
    np.save(tmp_path / "s.npy", np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"\[4, 2\]"):
        read(tmp_path / "s.npy")
    np.save(tmp_path / "s.npy", np.zeros(4))
    with pytest.raises(ValueError, match=r"no column 'length': a .npy file holds scores alone"):
        read(tmp_path / "s.npy", covariates=["length"])
    np.save(tmp_path / "s.npy", np.array(["a", "b"]))
    with pytest.raises(ValueError, match=r"'a' at record 1"):
        read(tmp_path / "s.npy")
