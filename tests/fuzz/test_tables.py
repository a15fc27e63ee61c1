"""A user's table of any content: a plan, or one sentence; nothing is written."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.config import compose
from mia_audit.preparation import prepare
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told_directly
from tests.fuzz.spoiling import spoiled


def sound_table() -> pd.DataFrame:
    rows = range(40)
    return pd.DataFrame(
        {"age": [20.5 + r for r in rows], "town": ["Ulm", "Nice"] * 20, "left": ["yes", "no"] * 20}
    )


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


CSV = sound_table().to_csv(index=False).encode()
CELLS: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8), st.booleans(),
    st.sampled_from(
        ["", " ", "?", "NA", "nan", "1e400", "-inf", "1,5", "=1+1", "0x10", "2020-01-01", "\x00"]
    ),
)  # fmt: skip
NAMES = st.one_of(st.sampled_from(["left", "age", "town", "", " left"]), st.text(max_size=6))


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Columns of one kind of cell or of many, as Parquet takes them."""
    height = draw(st.integers(0, 30))
    columns = {}
    for name in draw(st.lists(NAMES, min_size=0, max_size=4, unique=True)):
        cells = draw(
            st.one_of(
                st.just(CELLS), st.sampled_from([st.floats(), st.booleans(), st.text(max_size=3)])
            )
        )
        columns[name] = draw(st.lists(cells, min_size=height, max_size=height))
    return pd.DataFrame(columns)


def as_csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode(errors="replace")


def as_parquet(frame: pd.DataFrame) -> bytes:
    try:
        return parquet(frame)
    except Exception:  # pyarrow refuses mixed columns: they become text
        return parquet(frame.map(lambda cell: str(cell).encode(errors="replace").decode()))


TABLES = st.one_of(
    st.tuples(
        st.just("t.csv"),
        st.one_of(
            spoiled(CSV),
            frames().map(as_csv),
            st.text(max_size=300).map(lambda t: t.encode(errors="replace")),
        ),
    ),
    st.tuples(
        st.just("t.parquet"), st.one_of(spoiled(parquet(sound_table())), frames().map(as_parquet))
    ),
)
TARGETS = st.sampled_from(["left", "age", "town", "nothing"])


SETTINGS = compose(
    "audit",
    ["dataset=table", "dataset.path=_", "dataset.target=_", "num_models=8", "model.batch=8"],
).settings


def outcome(name: str, target: str) -> tuple[int, str]:
    dataset = replace(SETTINGS.dataset, path=name, target=target)
    return told_directly(lambda: prepare(replace(SETTINGS, dataset=dataset)))


def judge(table: tuple[str, bytes], target: str) -> None:
    name, content = table
    with empty_folder() as folder:
        (folder / name).write_bytes(content)
        check(*outcome(name, target))
        assert contents(Path()) == {name: content}


@inputs(IN_CI)
@given(TABLES, TARGETS)
def test_any_table(table: tuple[str, bytes], target: str) -> None:
    judge(table, target)


@pytest.mark.slow
@inputs(LONG)
@given(TABLES, TARGETS)
def test_thousands_of_tables(table: tuple[str, bytes], target: str) -> None:
    judge(table, target)


def test_a_sound_table_is_planned() -> None:
    with empty_folder() as folder:
        (folder / "t.csv").write_bytes(CSV)
        assert outcome("t.csv", "left") == (0, "")
