"""The main job as a user runs it: real Hydra, Ray and MLflow on sqlite, in an empty folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from mia_audit import config
from mia_audit.attacks import LiRA
from mia_audit.audit import AuditSettings
from mia_audit.job import run_audit
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.target import ExistingTarget, judge_target

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["num_models=32", "num_records=400", "model.epochs=4", "cluster.num_cpus=2"]
ARTIFACTS = {
    "config.yaml",
    "convergence.json",
    "figures",
    "models.json",
    "operating_points.json",
    "records.parquet",
    "report.html",
    "scores",
    "selection.json",
}

pytestmark = pytest.mark.integration


def start(folder: Path, *arguments: str, job: str = "audit") -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.Popen(
        [sys.executable, "-m", f"jobs.{job}", *arguments],
        cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def run(folder: Path, *arguments: str, job: str = "audit") -> tuple[int, str, str]:
    return finish(start(folder, *arguments, job=job))


def runs(folder: Path) -> list[Run]:
    """The logged runs, oldest first."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiments = [e.experiment_id for e in client.search_experiments()]
    return client.search_runs(experiments, order_by=["attributes.start_time ASC"])


def artifact(folder: Path, found: Run, name: str) -> Path:
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    return Path(client.download_artifacts(found.info.run_id, name))


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which a small audit ran once, and what it printed."""
    folder = tmp_path_factory.mktemp("audited")
    status, out, err = run(folder, *SMALL)
    assert status == 0, err
    assert "Traceback" not in err
    return folder, out


def test_prints_the_table_and_where_things_are(audited: tuple[Path, str]) -> None:
    _, out = audited
    table = ("Achieved", "TPR", "95% interval", "test 7")
    for words in ("32 to train", *table, "mia_report.html", "mlflow"):
        assert words in out


def test_leaves_only_the_named_files(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    names = {path.name for path in folder.iterdir()}
    assert names == {"mia_report.html", "mia_store", "mlflow.db", "mlruns"}


def test_the_run_holds_every_named_artifact(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    found = runs(folder)[0]
    names = {path.name for path in artifact(folder, found, "").iterdir()}
    assert names >= ARTIFACTS
    scores = np.load(artifact(folder, found, "scores/scores.npy"), allow_pickle=False)
    members = np.load(artifact(folder, found, "scores/members.npy"), allow_pickle=False)
    assert (scores.shape, scores.dtype) == ((32, 400), np.float32)
    assert (members.shape, members.dtype) == ((32, 400), np.bool_)
    records = pd.read_parquet(artifact(folder, found, "records.parquet"))
    assert len(records) == 400
    selection = json.loads(artifact(folder, found, "selection.json").read_text())
    assert selection["target"] == 0
    assert isinstance(selection["record_ids"], list)
    assert {"kind", "dataset", "model", "defence", "store_key", "git_sha"} <= set(found.data.tags)
    assert found.inputs.dataset_inputs[0].dataset.name == "adult"


def test_metrics_are_named_as_promised_and_finite(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    values = runs(folder)[0].data.metrics
    assert {
        "tpr_at_fpr/0.1",
        "tpr_at_fpr/0.01",
        "fpr_achieved/0.01",
        "auc",
        "test_accuracy",
    } <= set(values)
    assert all(np.isfinite(value) for value in values.values())
    assert 0.5 < values["test_accuracy"] < values["train_accuracy"] <= 1


def test_second_run_trains_nothing_and_repeats_the_numbers(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    status, out, err = run(folder, *SMALL)
    assert status == 0, err
    assert "0 to train" in out
    first, second = (
        {name: value for name, value in run.data.metrics.items() if "progress/" not in name}
        for run in runs(folder)[:2]
    )
    assert first == second


def test_more_models_train_only_the_new_ones(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    status, out, err = run(folder, *SMALL, "num_models=40")
    assert status == 0, err
    assert "32 in the store, 8 to train" in out


def test_scores_from_elsewhere_give_the_same_table(
    audited: tuple[Path, str], tmp_path: Path
) -> None:
    folder, _ = audited
    found = runs(folder)[0]
    scores = artifact(folder, found, "scores")
    status, _, err = run(tmp_path, f"scores={scores}")
    assert status == 0, err
    again = runs(tmp_path)[0]
    assert again.data.tags["dataset"] == again.data.tags["model"] == "external"
    kept = [name for name in found.data.metrics if name.startswith("tpr_at_fpr")]
    assert {k: again.data.metrics[k] for k in kept} == {k: found.data.metrics[k] for k in kept}

    status, _, err = run(tmp_path, f"scores={scores}", "dataset=german_credit")
    assert status == 2
    assert err.startswith("dataset:")


def test_an_existing_model_is_judged_as_target(audited: tuple[Path, str], tmp_path: Path) -> None:
    """One model of a larger sweep plays the deployed model; the others are its shadows."""
    folder, _ = audited
    scores = np.load(artifact(folder, runs(folder)[-1], "scores/scores.npy"))
    members = np.load(artifact(folder, runs(folder)[-1], "scores/members.npy"))
    assert len(scores) == 40
    np.save(tmp_path / "target_scores.npy", scores[39])
    np.save(tmp_path / "target_members.npy", members[39])
    files = [f"target.{name}={tmp_path}/target_{name}.npy" for name in ("scores", "members")]
    status, out, err = run(folder, *SMALL, "tracking.experiment=target", *files)
    assert status == 0, err
    assert "existing model" in out.lower()
    newest = max(runs(folder), key=lambda found: found.info.start_time)
    points = json.loads(artifact(folder, newest, "operating_points.json").read_text())
    rows = [dict(zip(points["columns"], row, strict=True)) for row in points["data"]]
    targets = [row for row in rows if row["method"] == "target"]
    unknown = np.full(32, np.nan, dtype=np.float32)
    shadows = ScoreMatrix(scores[:32], members[:32], np.arange(400), unknown, unknown)
    settings = AuditSettings(attack=LiRA())
    expected = judge_target(ExistingTarget(scores[39], members[39]), shadows, settings).points
    assert [row["alpha"] for row in targets] == [0.1, 0.01, 0.001]
    for row, point in zip(targets, expected, strict=True):
        shown = [row[name] for name in ("tpr", "lower", "upper", "fpr")]
        assert shown == pytest.approx([point.tpr, point.lower, point.upper, point.fpr])
    chosen = json.loads(artifact(folder, newest, "target_selection.json").read_text())
    assert chosen["target"] == "existing"


def test_dry_run_prints_the_plan_and_leaves_nothing(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, *SMALL, "dry_run=true")
    assert status == 0
    assert "32 to train" in out
    assert "in 4 shards on 2 workers; the first to end tells how long" in out
    assert list(tmp_path.iterdir()) == []


def test_train_then_audit_shares_the_store(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, *SMALL, job="train")
    assert status == 0, err
    assert {path.name for path in tmp_path.iterdir()} == {"mia_store"}
    status, out, err = run(tmp_path, *SMALL)
    assert status == 0, err
    assert "0 to train" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["num_models=3"], ["num_models", "4"]),
        (["num_records=60000"], ["num_records", "48,842"]),
        (["dataset=table", "dataset.path=absent.csv", "dataset.target=y"], ["absent.csv"]),
        (["store=/proc/nowhere"], ["store"]),
        (["tracking.uri=http://127.0.0.1:9"], ["tracking.uri"]),
        (["tracking.uri=sqlite:////proc/nowhere/mlflow.db"], ["tracking.uri"]),
        (["alphas=[2]"], ["alphas"]),
        (["selection.target=500"], ["selection.target"]),
        (["target.scores=absent.npy"], ["target.members"]),
        (["scores=absent"], ["absent"]),
        (["cluster.num_cpus=0"], ["cluster.num_cpus"]),
        (["model.epochs=0"], ["epochs"]),
        (["num_models=5"], ["num_models", "6"]),
        (["model.batch=1", "num_records=300"], ["model.batch"]),
        (["attack=rmia", "attack.gamma=-1"], ["attack.gamma"]),
        (["model.learning_rate=inf"], ["model.learning_rate", "finite"]),
        (["+extra=1"], ["+extra=1"]),
        (["=3"], ["=3"]),
        (["num_models=1000000000000"], ["num_models"]),
        (["num_models=9", "design=balanced"], ["num_models", "balanced"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) and "=" in value[0] else "",
)
def test_a_mistake_ends_before_any_work(
    tmp_path: Path,
    arguments: list[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command's own function in this process: a new one for each would take minutes."""
    monkeypatch.chdir(tmp_path)
    status = config.run("audit", run_audit, arguments)
    err = capsys.readouterr().err
    assert status == 2, err
    assert len(err.strip().splitlines()) == 1, err
    for word in words:
        assert word in err
    assert list(tmp_path.iterdir()) == []


def test_foreign_scores_claim_no_epsilon_and_invent_no_settings(tmp_path: Path) -> None:
    """Pure noise in which records are members nine times in ten: no bound, unless stated."""
    rng = np.random.default_rng(4)
    folder = tmp_path / "scores"
    folder.mkdir()
    np.save(folder / "scores.npy", rng.standard_normal((32, 200)))
    np.save(folder / "members.npy", rng.random((32, 200)) < 0.9)
    status, out, err = run(tmp_path, f"scores={folder}")
    assert status == 0, err
    assert "at least" not in out
    assert "epsilon_measured" not in runs(tmp_path)[0].data.metrics
    assert "num_models" not in runs(tmp_path)[0].data.params
    status, _, err = run(tmp_path, f"scores={folder}", "design=bernoulli")
    assert status == 2
    assert err.startswith("fraction=0.5")
    status, _, err = run(tmp_path, f"scores={folder}", "num_models=64")
    assert status == 2
    assert err.startswith("num_models:")


def test_a_report_that_cannot_be_written_is_known_before_training(tmp_path: Path) -> None:
    (tmp_path / "mia_report.html").mkdir()
    status, _, err = run(tmp_path, *SMALL)
    assert status == 2
    assert "mia_report.html" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mia_report.html"]


def test_single_class_pool_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": range(50), "label": ["yes"] * 50})
    frame.to_csv(tmp_path / "one.csv", index=False)
    status, _, err = run(tmp_path, "dataset=table", "dataset.path=one.csv", "dataset.target=label")
    assert status == 2, err
    assert len(err.strip().splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"one.csv"}


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_then_resumed(tmp_path: Path, number: signal.Signals, expected: int) -> None:
    large = ["num_models=96", "num_records=400", "model.epochs=60", "cluster.num_cpus=1",
             "cluster.models_per_shard=32"]  # fmt: skip
    process = start(tmp_path, *large, job="train")
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("mia_store/*/shard-*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(number)
    status, _, err = finish(process)
    assert status == expected, err
    assert "To resume: python -m jobs.train num_models=96" in err
    assert "Traceback" not in err
    status, out, err = run(tmp_path, *large, job="train")
    assert status == 0, err
    assert "96 to train" not in out
    assert not (tmp_path / "mlflow.db").exists()
