"""The whole main job with nothing on this machine: scores on S3, the run on an MLflow server.

One or both are away at the start, go and come back while it trains, or stay away.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from mia_audit.cluster import Cluster
from mia_audit.config import compose, run
from mia_audit.job import run_audit, run_training
from mia_audit.preparation import prepare
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.sweep import disconnect, run_sweep
from tests.integration.mlflow_server import MlflowServer
from tests.integration.ray_nodes import free_port
from tests.integration.s3_server import SECRET, Relay, bucket_on_s3

pytest.importorskip("s3fs")
pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SMALL = [
    "dataset=german_credit", "num_records=200", "num_models=16", "model=logistic",
    "cluster.num_cpus=2", "cluster.models_per_shard=1",
]  # fmt: skip
LONG = [
    "dataset=german_credit", "num_records=400", "num_models=32", "model.epochs=150",
    "cluster.num_cpus=1", "cluster.models_per_shard=4", "cluster.max_pending=0",
]  # fmt: skip


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with bucket_on_s3(tmp_path_factory.mktemp("s3"), "bucket") as relay:
        yield relay


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Iterator[MlflowServer]:
    running = MlflowServer(tmp_path_factory.mktemp("mlflow"), migrated_file)
    running.start()
    yield running
    running.kill()


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "jobs.audit", *arguments], cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, " ".join(out.split()), err


def runs(server: MlflowServer, experiment: str) -> list[Run]:
    client = MlflowClient(server.uri)
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


def scores(*arguments: str) -> np.ndarray:
    """Those in the store, after training what is missing there."""
    prepared = prepare(compose("train", list(arguments)).settings)
    if prepared.store.missing(prepared.plan):
        run_sweep(prepared.plan, prepared.store, cluster=Cluster(num_cpus=2), progress=Progress())
        disconnect()
    return prepared.store.load(prepared.plan).scores


def test_nothing_is_kept_here_when_store_and_tracking_are_elsewhere(
    s3: Relay, mlflow: MlflowServer, tmp_path: Path
) -> None:
    where = ["store=s3://bucket/both", f"tracking.uri={mlflow.uri}", "tracking.experiment=both"]
    status, out, err = finish(start(tmp_path, *SMALL, *where))
    assert status == 0, err
    assert "0 in the store, 16 to train" in out
    assert SECRET not in out + err + (tmp_path / "mia_report.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"mia_report.html"}
    (logged,) = runs(mlflow, "both")
    assert logged.info.status == "FINISHED"
    (entry,) = Store("s3://bucket/both").entries()
    assert (entry.key, entry.num_models) == (logged.data.tags["store_key"], 16)


def test_what_does_not_answer_at_the_start_is_refused_before_training(
    s3: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store, away = "store=s3://bucket/none", f"tracking.uri=http://127.0.0.1:{free_port()}"
    began = time.monotonic()
    assert run("audit", run_audit, [*SMALL, store, away]) == 2
    assert capsys.readouterr() == (
        "", f"{away} does not answer (ConnectionError): start the server (mlflow server), "
        "correct the address, or use tracking.uri=sqlite:///mlflow.db.\n",
    )  # fmt: skip
    assert Store("s3://bucket/none").entries() == []
    s3.leave()
    try:
        for job in (run_audit, run_training):
            assert run("audit", job, [*SMALL, store]) == 2
            assert capsys.readouterr() == (
                "", "store=s3://bucket/none: nothing can be written there "
                "(EndpointConnectionError); check its address and credentials, and that its "
                "server answers.\n",
            )  # fmt: skip
    finally:
        s3.come_back()
    assert time.monotonic() - began < 60  # nobody waits for what was never there
    assert list(tmp_path.iterdir()) == []


def at_first_shard(process: subprocess.Popen[str], store: str) -> None:
    """Wait until a model is in the store."""
    while not any(entry.num_models for entry in Store(store).entries()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)


@pytest.mark.slow  # half a minute
def test_both_go_and_come_back_while_it_trains(
    s3: Relay, mlflow: MlflowServer, tmp_path: Path
) -> None:
    where = ["store=s3://bucket/back", f"tracking.uri={mlflow.uri}", "tracking.experiment=back"]
    process = start(tmp_path, *LONG, *where)
    at_first_shard(process, "s3://bucket/back")
    s3.leave()
    mlflow.kill()
    time.sleep(8)
    assert process.poll() is None
    mlflow.start()
    s3.come_back()
    status, out, err = finish(process)
    assert status == 0, err
    assert "Calibrated (headline)" in out
    first, last = [line for line in err.splitlines() if line.startswith("store=")]
    assert first.startswith("store=s3://bucket/back does not answer (EndpointConnectionError")
    assert last == "store=s3://bucket/back answers again."
    (logged,) = runs(mlflow, "back")  # the one of the start
    assert logged.info.status == "FINISHED"
    client = MlflowClient(mlflow.uri)
    told = client.get_metric_history(logged.info.run_id, "progress/models_done")
    assert max(point.step for point in told) == 32  # it goes on after the loss
    log = Path(client.download_artifacts(logged.info.run_id, "sweep.jsonl")).read_text()
    trained = [model for line in log.splitlines() for model in json.loads(line)["models"]]
    assert sorted(trained) == list(range(32))  # none twice
    here = scores(*LONG, f"store={tmp_path / 'here'}")
    np.testing.assert_array_equal(scores(*LONG, "store=s3://bucket/back"), here)


@pytest.mark.slow  # two minutes: the patience with a remote is one
def test_a_store_that_stays_away_is_one_sentence_and_the_same_command_goes_on(
    s3: Relay, mlflow: MlflowServer, tmp_path: Path
) -> None:
    where = ["store=s3://bucket/away", f"tracking.uri={mlflow.uri}", "tracking.experiment=away"]
    process = start(tmp_path, *LONG, *where)
    at_first_shard(process, "s3://bucket/away")
    s3.leave()
    began = time.monotonic()
    try:
        status, _, err = finish(process)
    finally:
        s3.come_back()
    assert time.monotonic() - began < 120
    assert status == 1
    assert "Traceback" not in err
    said, last = [line for line in err.splitlines() if line.startswith("store=s3://bucket/away")]
    assert "trying again for about 61 s" in said
    assert last.endswith("once that is mended, run the same command again.")
    (lost,) = runs(mlflow, "away")
    assert lost.info.status == "FAILED"
    (entry,) = Store("s3://bucket/away").entries()
    status, out, err = finish(start(tmp_path, *LONG, *where))
    assert status == 0, err
    assert 0 < entry.num_models < 32
    assert f"{entry.num_models} in the store, {32 - entry.num_models} to train" in out
    assert sorted(one.info.status for one in runs(mlflow, "away")) == ["FAILED", "FINISHED"]
    here = scores(*LONG, f"store={tmp_path / 'here'}")
    np.testing.assert_array_equal(scores(*LONG, "store=s3://bucket/away"), here)
