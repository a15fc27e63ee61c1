"""The comparison as a user runs it: real Hydra, Ray and MLflow on sqlite, in an empty folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from mia_audit.tracking import read_table
from tests.integration.test_audit_job import artifact, run, runs

pytestmark = pytest.mark.integration

SMALL = ["num_models=32", "num_records=300", "model.epochs=6", "cluster.num_cpus=1"]
DEFENCES = "defences=[{weight_decay:{strength:0.003}},{weight_decay:{strength:0.3}}]"
LABELS = ["none", "weight_decay(strength=0.003)", "weight_decay(strength=0.3)"]


def rows_of(folder: Path, found: object) -> list[dict[str, str]]:
    with artifact(folder, found, "comparison.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which a small comparison ran once, and what it printed."""
    folder = tmp_path_factory.mktemp("compared")
    status, out, err = run(folder, DEFENCES, *SMALL, job="compare")
    assert status == 0, err
    assert "Traceback" not in err
    return folder, out


def test_prints_the_table_and_leaves_only_the_named_files(compared: tuple[Path, str]) -> None:
    folder, out = compared
    for words in ("32 to train", "Verdict", "strength=0.003", "Adaptive", "mia_report.html"):
        assert words in out
    names = {path.name for path in folder.iterdir()}
    assert names == {"mia_report.html", "mia_store", "mlflow.db", "mlruns"}


def test_one_parent_and_one_child_a_defence(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    found = runs(folder)
    (parent,) = [one for one in found if one.data.tags["kind"] == "compare"]
    children = [one for one in found if one.data.tags["kind"] == "audit"]
    assert sorted(one.data.tags["defence"] for one in children) == sorted(LABELS)
    assert {one.data.tags["mlflow.parentRunId"] for one in children} == {parent.info.run_id}
    assert {one.info.status for one in found} == {"FINISHED"}
    for one in children:
        assert one.data.metrics["progress/models_done"] == 32
        lines = artifact(folder, one, "sweep.jsonl").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        assert sorted(model for event in events for model in event["models"]) == list(range(32))
        assert {event["key"] for event in events} == {one.data.tags["store_key"]}
    names = {path.name for path in artifact(folder, parent, "").iterdir()}
    assert names == {"comparison.csv", "comparison.json", "config.yaml", "figures", "report.html"}
    assert (folder / "mia_report.html").read_bytes() == artifact(
        folder, parent, "report.html"
    ).read_bytes()


def test_the_table_agrees_with_the_children(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    found = runs(folder)
    (parent,) = [one for one in found if one.data.tags["kind"] == "compare"]
    table = rows_of(folder, parent)
    assert [row["defence"] for row in table] == LABELS
    children = {one.data.tags["defence"]: one.data.metrics for one in found}
    for row in table:
        metrics = children[row["defence"]]
        for name in ("test_accuracy", "train_accuracy", "auc", "tpr_at_fpr/0.1", "seconds"):
            assert float(row[name]) == pytest.approx(metrics[name], rel=1e-6)
    shown = read_table(artifact(folder, parent, "comparison.json"))
    assert [row["defence"] for row in shown] == LABELS
    assert float(table[2]["train_accuracy"]) < float(table[0]["train_accuracy"])


def test_second_run_trains_nothing_and_repeats_the_table(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    status, out, err = run(folder, DEFENCES, *SMALL, job="compare")
    assert status == 0, err
    assert out.count("32 in the store, 0 to train") == 3
    first, second = [one for one in runs(folder) if one.data.tags["kind"] == "compare"][:2]
    assert rows_of(folder, first) == rows_of(folder, second)


def test_past_runs_give_the_same_table_without_training(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    before = {one.info.run_id: dict(one.data.tags) for one in runs(folder)}
    (first, *_) = [one for one in runs(folder) if one.data.tags["kind"] == "compare"]
    status, out, err = run(folder, "runs=tags.dataset = 'adult'", job="compare")
    assert status == 0, err
    assert "nothing is trained" in out
    (last,) = [one for one in runs(folder) if one.info.run_id not in before]
    assert last.data.tags["kind"] == "compare"
    assert rows_of(folder, last) == rows_of(folder, first)
    for one in runs(folder):  # children stay with the comparison that made them
        if one.info.run_id in before:
            assert one.data.tags == before[one.info.run_id]


def test_audits_of_other_designs_are_refused_unless_asked(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    other = ["defence=weight_decay", "defence.strength=0.5", "seed=1"]
    status, _, err = run(folder, *other, *SMALL)
    assert status == 0, err
    status, _, err = run(folder, "runs=tags.dataset = 'adult'", job="compare")
    assert status == 2
    assert "none and weight_decay(strength=0.5) differ in" in err
    assert err.count("\n") == 1
    query = ["runs=tags.dataset = 'adult'", "allow_different_designs=true"]
    status, out, err = run(folder, *query, job="compare")
    assert status == 0, err
    assert "independent sweeps" in " ".join(out.split())


def test_mistakes_end_with_two_and_one_sentence(tmp_path: Path) -> None:
    for arguments, word in (
        (["defences=[none,nothing]"], "nothing"),
        (["defences=[{weight_decay:{strength:-1}}]", *SMALL], "negative"),
        (["runs=tags.dataset = 'adult'"], "no audit"),
    ):
        status, _, err = run(tmp_path, *arguments, job="compare")
        assert status == 2
        assert word in err
        assert err.count("\n") == 1
