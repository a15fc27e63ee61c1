"""The parts of tracking that need no MLflow: addresses, names, values, tables."""

import json
import math
import subprocess
import sys
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.tracking import (
    Tracking,
    environment,
    git_sha,
    mask_passwords,
    prepare,
    read_table,
    table_json,
)
from mia_audit.tracking.address import client_uri, page_url, serve_command
from mia_audit.tracking.values import PARAM_LENGTH, flat_params, points


class Choice(Enum):
    adam = "adam"


def test_import_does_not_load_mlflow() -> None:
    code = "import sys, mia_audit.tracking; print('mlflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "uri",
    ["./mlruns", "file:///tmp/x", "ftp://host/x", "sqlite://", "sqlite:///", "sqlite:///:memory:"],
)
def test_an_address_of_another_kind_is_refused_with_the_remedy(uri: str) -> None:
    with pytest.raises(ValueError, match=r"tracking\.uri=.*sqlite:///mlflow\.db"):
        prepare(Tracking(uri=uri))


def test_a_server_address_without_a_host_is_refused() -> None:
    with pytest.raises(ValueError, match="no host"):
        prepare(Tracking(uri="http://"))


@pytest.mark.parametrize("path", ["/nowhere/at/all/mlflow.db", "/proc/mlflow.db"])
def test_a_directory_that_cannot_be_written_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"tracking\.uri=.* cannot be written .*directory"):
        prepare(Tracking(uri=f"sqlite:///{path}"))


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk, and the bread")
    with pytest.raises(ValueError, match="not an SQLite file"):
        prepare(Tracking(uri=f"sqlite:///{path}"))
    assert path.read_text() == "remember the milk, and the bread"


def test_passwords_are_masked_wherever_they_stand() -> None:
    text = "uri: http://ann:s3cret@host:5000/x, store: s3://key:other@bucket"
    assert mask_passwords(text) == "uri: http://ann:***@host:5000/x, store: s3://key:***@bucket"
    plain = "http://host:5000/a@b and sqlite:///x.db at 12:30"
    assert mask_passwords(plain) == plain


def test_addresses_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local = Tracking(uri="sqlite:///my runs.db")
    assert client_uri(local.uri) == f"sqlite:///{tmp_path}/my runs.db"
    assert serve_command(local) == "mlflow ui --backend-store-uri 'sqlite:///my runs.db'"
    remote = Tracking(uri="https://ann:pw@host/")
    assert page_url(remote, "3", "abc") == "https://ann:***@host/#/experiments/3/runs/abc"
    assert serve_command(remote) == ""


def test_params_are_flat_texts() -> None:
    params = {
        "model": {"hidden": [64, 64], "optimiser": Choice.adam, "learning_rate": 1e-3},
        "scores": None,
        "dry_run": False,
        "empty": {},
        "uri": "http://u:pw@h",
        "odd=name@x": 1,
    }
    assert flat_params(params) == {
        "model.hidden": "[64, 64]",
        "model.optimiser": "adam",
        "model.learning_rate": "0.001",
        "scores": "null",
        "dry_run": "false",
        "empty": "{}",
        "uri": "http://u:***@h",
        "odd_name_x": "1",
    }


@pytest.mark.parametrize("length", [0, 1, PARAM_LENGTH - 1, PARAM_LENGTH])
def test_a_param_of_the_allowed_length_is_whole(length: int) -> None:
    assert flat_params({"p": "x" * length}) == {"p": "x" * length}


@pytest.mark.parametrize("length", [PARAM_LENGTH + 1, 6001, 100_000])
def test_a_longer_param_is_shortened_visibly(length: int) -> None:
    shown = flat_params({"p": "x" * length})["p"]
    assert len(shown) == PARAM_LENGTH
    assert shown.endswith(f"x… ({length} characters, whole in config.yaml)")


def test_only_finite_metrics_are_kept_and_steps_are_positions() -> None:
    found = points({"auc": 0.5, "epsilon": math.inf, "x": math.nan}, {"acc": [0.1, math.nan, 0.3]})
    assert found == [("auc", 0.5, 0), ("acc", 0.1, 0), ("acc", 0.3, 2)]


@pytest.mark.parametrize("name", ["tpr@0.01", "eps=1", "", "dpsgd(epsilon=1)", "x" * 251])
def test_a_metric_name_mlflow_refuses_is_refused_first(name: str) -> None:
    with pytest.raises(ValueError, match="metric name"):
        points({name: 1.0}, {})


def test_tables_round_trip(tmp_path: Path) -> None:
    rows = [
        {"method": "naive", "tpr": np.float32(0.1), "n": np.int64(3), "low": math.nan},
        {"method": "post", "tpr": 0.08000000000000002, "kind": Choice.adam, "high": -math.inf},
    ]
    path = tmp_path / "t.json"
    path.write_text(table_json(rows), encoding="utf-8")
    gap = {"n": None, "low": None, "kind": None, "high": None}
    assert read_table(path) == [
        {"method": "naive", "tpr": 0.100000001, **gap, "n": 3},
        {"method": "post", "tpr": 0.08, **gap, "kind": "adam"},
    ]
    assert list(json.loads(path.read_text())["columns"]) == [
        "method", "tpr", "n", "low", "kind", "high",
    ]  # fmt: skip


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_tables_keep_every_float32(value: float) -> None:
    (row,) = json.loads(table_json([{"x": value}]))["data"]
    assert np.float32(row[0]) == np.float32(value)


def test_git_sha_is_empty_outside_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_sha() == ""
    commands = (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"])
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in commands:
        subprocess.run(["git", *identity, *command], check=True)
    assert len(git_sha()) == 40
    monkeypatch.setenv("PATH", "")
    assert git_sha() == ""


def test_versions_name_what_changes_numbers() -> None:
    versions = environment()["versions"]
    assert f"numpy {np.__version__}" in versions
    assert versions.startswith("python 3.")
