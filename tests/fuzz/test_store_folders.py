"""What lies beside the shards of a key, of any content: listed, trained over and removed."""

import contextlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.store import Store
from mia_audit.store_command import run_store
from tests.fuzz.running import IN_CI, LONG, contents, empty_folder, inputs, within
from tests.fuzz.spoiling import spoiled
from tests.fuzz.test_shards import CONTENT, NAME, PLAN, SHARD


def recorded() -> dict[str, bytes]:
    """plan.json and record_ids.csv as the store writes them."""
    with empty_folder() as folder:
        Store("store").record(PLAN)
        return contents(folder / "store" / PLAN.key)


RECORDED = recorded()
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
PLANS = st.one_of(
    spoiled(RECORDED["plan.json"]),
    JSON.map(lambda value: repr(value).replace("'", '"').encode(errors="replace")),
    st.dictionaries(st.sampled_from(["key", "dataset", "num_models", "description"]), JSON).map(
        lambda told: json.dumps(told).encode()
    ),
)
OTHERS = st.dictionaries(
    st.one_of(
        st.sampled_from(
            [".tmp-here-1-00000000", "shard-000000-000001-0.npz", "shard-9-3-x.npz", "plan.json~"]
        ),
        st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1)
        .filter(lambda name: name not in (".", "..", "plan.json", "record_ids.csv"))
        .filter(lambda name: len(name.encode()) < 200),
    ),
    st.binary(max_size=20),
    max_size=3,
)
FOLDERS = st.tuples(PLANS, spoiled(RECORDED["record_ids.csv"]), OTHERS)


def command(*arguments: str) -> str:
    """What the store's command prints; it must succeed and say nothing else."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = run_store(list(arguments))
    assert (status, errors.getvalue()) == (0, "")
    return output.getvalue()


def judge(plan: bytes, ids: bytes, others: dict[str, bytes]) -> None:
    with empty_folder() as folder, within(60):
        place = folder / "mia_store" / PLAN.key
        place.mkdir(parents=True)
        files = {"plan.json": plan, "record_ids.csv": ids, NAME: CONTENT, **others}
        for name, content in files.items():
            (place / name).write_bytes(content)
        listed = command("list")
        assert listed.startswith(PLAN.key)
        assert all(letter.isprintable() or letter == "\n" for letter in listed)
        assert listed.count("\n") == 2
        assert contents(place) == files
        a_run_goes_over_it(place, others)
        assert command("remove", f"key={PLAN.key}").count("\n") == 1
        assert os.listdir(folder / "mia_store") == []


def a_run_goes_over_it(place: Path, others: dict[str, bytes]) -> None:
    """Its own files are written anew, what is not its own stays."""
    store = Store("mia_store")
    store.clean(PLAN)
    store.record(PLAN)
    assert store.missing(PLAN) == []
    np.testing.assert_array_equal(store.load(PLAN).scores, SHARD.scores)
    kept = {name: text for name, text in others.items() if not name.startswith(".tmp-")}
    assert contents(place).items() >= {**RECORDED, NAME: CONTENT, **kept}.items()


@inputs(IN_CI)
@given(FOLDERS)
def test_any_folder(folder: tuple[bytes, bytes, dict[str, bytes]]) -> None:
    judge(*folder)


@pytest.mark.slow
@inputs(LONG)
@given(FOLDERS)
def test_thousands_of_folders(folder: tuple[bytes, bytes, dict[str, bytes]]) -> None:
    judge(*folder)
