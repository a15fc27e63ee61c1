"""`jobs.store`: what it shows, what it deletes, and one sentence for each mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mia_audit.store import Store
from mia_audit.store_command import run_store
from tests.test_store import make_plan, train

ROOT = Path(__file__).parents[1]


def filled(folder: Path) -> str:
    plan, store = make_plan(), Store(str(folder))
    store.write(plan, train(plan, range(8)))
    store.record(plan)
    return plan.key


def test_list_shows_config_models_size_and_last_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = filled(tmp_path)
    os.utime(tmp_path / key / "plan.json", (2e9, 2e9))
    assert run_store(["list", f"store={tmp_path}"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{key}  8 models, 0.0 MB, last used 2033-05-18 ")
    assert second == (
        "  blobs, noise(width=4, shift=1), none, num_records=40, design=bernoulli, fraction=0.5,"
        " seed=0"
    )


def test_lines_fit_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert run_store(["list", f"store={tmp_path}"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()).endswith("fraction=0.5, seed=0")


def test_remove_deletes_one_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = filled(tmp_path)
    (tmp_path / "theirs").mkdir()
    assert run_store(["remove", f"key={key}", f"store={tmp_path}"]) == 0
    assert capsys.readouterr().out == f"removed {key} from {tmp_path} (8 models, 0.0 MB)\n"
    assert os.listdir(tmp_path) == ["theirs"]
    assert run_store(["list", f"store={tmp_path}"]) == 0
    assert capsys.readouterr().out == f"no sweeps in {tmp_path}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show"], "show: write list or remove first"),
        (["remove"], "remove needs key=KEY"),
        (["remove", "key=../../etc"], "is not a store key"),
        (["remove", "key=0123456789abcdef"], "there is no sweep with the key"),
        (["remove", "0123456789abcdef"], "remove takes store=… and key=…"),
        (["list", "key=0123456789abcdef"], "list takes store=…"),
        (["list", "store=a", "store=b"], "store=b: store is given twice"),
        (["remove", f"key={'a' * 16}", f"key={'b' * 16}"], "key is given twice; write it once"),
        (["list", "store="], "store is empty"),
        (["list", "store=nosuch://here"], "store=nosuch://here"),
        (["list", "store=zip://none.zip"], "store=zip://none.zip"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run_store(arguments) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert (told.out, os.listdir(tmp_path)) == ("", [])


def test_a_plan_file_from_elsewhere_writes_no_control_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = filled(tmp_path)
    hostile = {"dataset": "\x1b[31mred\x07\n", "description": {"model": 3, "seed": "\x9b2J"}}
    (tmp_path / key / "plan.json").write_text(json.dumps(hostile))
    assert run_store(["list", f"store={tmp_path}"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "  red? , ?, ?, seed=?2J"


@pytest.mark.parametrize(
    "content",
    [
        '{"dataset": 5, "description": [1]}',
        '{"description": {"model": [], "defence": null}}',
        "[" * 100_000,
    ],
)
def test_a_strange_plan_file_shows_what_it_can(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = filled(tmp_path)
    (tmp_path / key / "plan.json").write_text(content)
    assert run_store(["list", f"store={tmp_path}"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{key}  8 models")
    assert second == "  ?, ?, ?"


def test_files_named_like_sweeps_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, theirs = filled(tmp_path), "0123456789abcdef"
    (tmp_path / theirs).write_text("not a sweep")
    assert run_store(["list", f"store={tmp_path}"]) == 0
    assert theirs not in capsys.readouterr().out
    assert run_store(["remove", f"key={theirs}", f"store={tmp_path}"]) == 2
    assert "there is no sweep with the key" in capsys.readouterr().err
    assert run_store(["remove", f"key={key}", f"store={tmp_path}"]) == 0
    assert os.listdir(tmp_path) == [theirs]


def test_an_empty_sweep_is_listed_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "0123456789abcdef"
    (tmp_path / key).mkdir()
    assert run_store(["list", f"store={tmp_path}"]) == 0
    assert capsys.readouterr().out.startswith(f"{key}  0 models")
    assert run_store(["remove", f"key={key}", f"store={tmp_path}"]) == 0
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("below", ["", "/below"])
@pytest.mark.parametrize("verb", [["list"], ["remove", "key=0123456789abcdef"]])
def test_a_file_is_no_store(
    verb: list[str], below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run_store([*verb, f"store={tmp_path}/file{below}"]) == 2
    told = capsys.readouterr()
    assert (
        told.err
        == f"store={tmp_path}/file{below}: {tmp_path}/file is a file; name the folder of a store.\n"
    )
    assert told.out == ""


def test_the_command_answers() -> None:
    command = [sys.executable, "-m", "jobs.store", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Show the sweeps in a store, or delete one.")
