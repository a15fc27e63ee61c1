"""Shards exist whole or not at all, and nothing damaged or foreign is ever read as scores."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

from mia_audit.defences.none import NoDefence
from mia_audit.plan import Plan, plan_sweep
from mia_audit.shard import Shard, encode
from mia_audit.store import Store
from mia_audit.train_shard import ShardWork, train_shard
from tests.integration.stand_ins import Noise, blobs


def make_plan(num_models: int = 12, seed: int = 0, num_records: int = 40) -> Plan:
    data = blobs(num_records)
    return plan_sweep(data, Noise(), NoDefence(), num_models=num_models, seed=seed)


def train(plan: Plan, models: range) -> Shard:
    rows = slice(models.start, models.stop)
    work = ShardWork(models, plan.members[rows], plan.seeds[rows], plan.num_train, "cpu")
    shards = train_shard(plan.dataset, plan.model, plan.defence, work).shards
    scores = np.concatenate([shard.scores for shard in shards])
    accuracies = [np.concatenate([getattr(shard, name) for shard in shards]) for name in _ACCURACY]
    return Shard(models.start, scores, plan.members[rows], *accuracies, len(models) / 2, "cpu")


_ACCURACY = ("train_accuracy", "test_accuracy")


@pytest.fixture(params=["folder", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "store") if request.param == "folder" else f"memory://{uuid.uuid4()}/x"


def test_what_is_written_is_read_back_in_index_order(url: str) -> None:
    plan, store = make_plan(), Store(url)
    assert store.missing(plan) == list(range(12))
    for models in (range(8, 12), range(2), range(2, 8)):
        store.write(plan, train(plan, models))
    assert Store(url).missing(plan) == []
    matrix = Store(url).load(plan)
    whole = train(plan, range(12))
    np.testing.assert_array_equal(matrix.scores, whole.scores)
    np.testing.assert_array_equal(matrix.members, plan.members)
    np.testing.assert_array_equal(matrix.test_accuracy, whole.test_accuracy)
    np.testing.assert_array_equal(matrix.record_ids, plan.dataset.rows)
    assert (matrix.seconds, matrix.devices, matrix.missing) == (6.0, ("cpu",), ())


def test_models_that_are_missing_have_no_row(url: str) -> None:
    plan, store = make_plan(), Store(url)
    store.write(plan, train(plan, range(4, 8)))
    matrix = store.load(plan)
    assert store.missing(plan) == list(matrix.missing) == [0, 1, 2, 3, 8, 9, 10, 11]
    assert matrix.model_indices.tolist() == [4, 5, 6, 7]
    np.testing.assert_array_equal(matrix.members, plan.members[4:8])


def test_fewer_models_use_a_part_of_a_shard_and_of_its_seconds(url: str) -> None:
    store, few = Store(url), make_plan(8)
    store.write(make_plan(12), train(make_plan(12), range(12)))
    matrix = store.load(few)
    np.testing.assert_array_equal(matrix.scores, train(few, range(8)).scores)
    assert matrix.seconds == pytest.approx(4.0)


def test_where_shards_overlap_the_first_wins(url: str) -> None:
    plan, store = make_plan(), Store(url)
    store.write(plan, train(plan, range(6)))
    other = train(plan, range(4, 12))
    store.write(plan, Shard(4, other.scores + 1, *list(vars(other).values())[2:]))
    matrix = store.load(plan)
    whole = train(plan, range(12)).scores
    np.testing.assert_array_equal(matrix.scores[:6], whole[:6])
    np.testing.assert_array_equal(matrix.scores[6:], whole[6:] + 1)
    assert matrix.seconds == pytest.approx(3.0 + 4.0 * 6 / 8)


def spoil(path: Path, how: str, plan: Plan) -> None:
    content = path.read_bytes()
    match how:
        case "truncated":
            path.write_bytes(content[: len(content) // 2])
        case "altered":
            path.write_bytes(content[:600] + bytes([content[600] ^ 1]) + content[601:])
        case "empty":
            path.write_bytes(b"")
        case "another seed":  # a sound file of another sweep under this sweep's key
            other = make_plan(seed=1)
            name, foreign = encode(train(other, range(4)), plan.key)
            path.unlink()
            (path.parent / name).write_bytes(foreign)
        case "another key":
            name, foreign = encode(train(plan, range(4)), "0" * 16)
            path.unlink()
            (path.parent / name).write_bytes(foreign)
        case "another range":
            path.rename(path.parent / path.name.replace("000000-000003", "000001-000004"))


@pytest.mark.parametrize(
    "how", ["truncated", "altered", "empty", "another seed", "another key", "another range"]
)
def test_a_bad_shard_counts_as_missing_until_it_is_replaced(tmp_path: Path, how: str) -> None:
    plan, store = make_plan(), Store(str(tmp_path))
    name = store.write(plan, train(plan, range(4)))
    store.write(plan, train(plan, range(4, 12)))
    spoil(tmp_path / plan.key / name, how, plan)
    assert len(store.verify(plan)) == 1
    assert store.missing(plan) == [0, 1, 2, 3]
    assert store.load(plan).missing == (0, 1, 2, 3)
    store.clean(plan)
    assert len(list((tmp_path / plan.key).glob("shard-*"))) == 2  # nothing replaces it yet
    store.write(plan, train(plan, range(4)))
    store.clean(plan)
    assert store.damaged(plan) == []
    assert len(list((tmp_path / plan.key).glob("shard-*"))) == 2
    matrix = Store(str(tmp_path)).load(plan)
    np.testing.assert_array_equal(matrix.scores, train(plan, range(12)).scores)


def test_an_overlapping_shard_stands_in_for_a_bad_one(tmp_path: Path) -> None:
    plan, store = make_plan(), Store(str(tmp_path))
    name = store.write(plan, train(plan, range(12)))
    store.write(plan, train(plan, range(2, 8)))
    (tmp_path / plan.key / name).write_bytes(b"no")
    assert store.load(plan).missing == (0, 1, 8, 9, 10, 11)


def test_other_files_are_no_shards(tmp_path: Path) -> None:
    plan, store = make_plan(), Store(str(tmp_path))
    (tmp_path / plan.key).mkdir()
    for name in ("shard-000000-000011-zz.npz", "notes.txt", ".tmp-host-1-00000000"):
        (tmp_path / plan.key / name).write_text("x")
    assert store.missing(plan) == list(range(12))


def test_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    plan, store = make_plan(), Store(str(tmp_path))
    folder = tmp_path / plan.key
    folder.mkdir()
    host = os.uname().nodename
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = {
        "dead": f".tmp-{host}-{ended.pid}-0123abcd",
        "alive": f".tmp-{host}-{os.getpid()}-0123abcd",
        "elsewhere": ".tmp-no.such-host-1-0123abcd",
        "old": ".tmp-no.such-host-2-0123abcd",
    }
    for name in names.values():
        (folder / name).write_text("half")
    day_ago = time.time() - 25 * 3600
    os.utime(folder / names["old"], (day_ago, day_ago))
    store.clean(plan)
    assert {file.name for file in folder.iterdir()} == {names["alive"], names["elsewhere"]}


def test_entries_say_what_there_is_and_a_key_can_be_removed(url: str) -> None:
    store, plan, other = Store(url), make_plan(), make_plan(seed=1)
    assert store.entries() == []
    for wanted in (plan, other):
        store.write(wanted, train(wanted, range(4)))
        store.record(wanted)
    found = {entry.key: entry for entry in store.entries()}
    assert set(found) == {plan.key, other.key}
    entry = found[plan.key]
    assert entry.description == plan.description
    assert (entry.dataset, entry.num_models) == ("blobs", 4)
    assert entry.size > 4 * 40 * 4
    assert abs(entry.last_use.timestamp() - time.time()) < 60
    store.remove(plan.key)
    assert [entry.key for entry in store.entries()] == [other.key]
    with pytest.raises(ValueError, match=f"no sweep with the key {plan.key}"):
        store.remove(plan.key)


def test_a_sweep_that_is_being_trained_is_not_removed(tmp_path: Path) -> None:
    store, plan = Store(str(tmp_path)), make_plan()
    store.record(plan)
    with (
        store.sole_driver(plan, busy=lambda: None),
        pytest.raises(ValueError, match=f"sweep {plan.key} is being trained now"),
    ):
        store.remove(plan.key)
    store.remove(plan.key)
    assert store.entries() == []


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"\xff\xfe"])
def test_a_damaged_plan_file_hides_no_sweep(tmp_path: Path, content: bytes) -> None:
    store, plan = Store(str(tmp_path)), make_plan()
    store.write(plan, train(plan, range(4)))
    (tmp_path / plan.key / "plan.json").write_bytes(content)
    (entry,) = store.entries()
    assert (entry.key, entry.num_models, entry.dataset) == (plan.key, 4, "")


@pytest.mark.parametrize("key", ["../../etc", "", "ABCDEF0123456789", "0123456789abcde/"])
def test_keys_cannot_leave_the_store(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="is not a store key"):
        Store(str(tmp_path)).remove(key)


def test_the_plan_is_written_for_people(tmp_path: Path) -> None:
    plan = make_plan()
    Store(str(tmp_path)).record(plan)
    told = json.loads((tmp_path / plan.key / "plan.json").read_text())
    assert told["description"] == plan.description
    assert told["description"]["model"] == {"name": "noise", "width": 4, "shift": 1}


def test_home_and_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    plan, here, home = make_plan(), Store("./here"), Store("~/there")
    monkeypatch.chdir("/")
    here.record(plan)
    home.record(plan)
    assert (tmp_path / "here" / plan.key / "plan.json").exists()
    assert (tmp_path / "home" / "there" / plan.key / "plan.json").exists()


def test_a_writable_store_is_left_as_it_was(url: str, tmp_path: Path) -> None:
    Store(url).check_writable()
    assert not (tmp_path / "store").exists()
    assert Store(url).entries() == []


def test_an_unwritable_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"^store=\S+: nothing can be written there \(.*; give"):
        Store(str(tmp_path / "file" / "store")).check_writable()


def test_an_empty_address_is_refused() -> None:
    with pytest.raises(ValueError, match="store is empty"):
        Store("")


def test_passwords_are_not_shown() -> None:
    url = "nosuch://me:secret@host/store"
    with pytest.raises(ValueError, match=r"store=nosuch://me:\*\*\*@host/store: ") as error:
        Store(url)
    assert "secret" not in str(error.value)
    assert "secret" not in repr(Store("memory://me:secret@host/store"))


def test_ten_thousand_shards_are_planned_without_opening_one(tmp_path: Path) -> None:
    plan = make_plan(10_002, num_records=30)
    store = Store(str(tmp_path))
    (tmp_path / plan.key).mkdir()
    for model in range(10_000):
        (tmp_path / plan.key / f"shard-{model:06d}-{model:06d}-{model:016x}.npz").touch()
    began = time.process_time()
    assert store.missing(plan) == [10_000, 10_001]
    assert time.process_time() - began < 5.0
