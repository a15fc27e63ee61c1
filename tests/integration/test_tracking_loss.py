"""The main job on a remote tracking server: as it should be, and with the server lost meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from tests.integration.mlflow_server import MlflowServer

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "s3cretpw"
SMALL = [
    "num_models=32", "num_records=400", "model.epochs=30",
    "cluster.num_cpus=1", "cluster.models_per_shard=8", "cluster.max_pending=0",
]  # fmt: skip


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Iterator[MlflowServer]:
    running = MlflowServer(tmp_path_factory.mktemp("server"), migrated_file)
    running.start()
    yield running
    running.kill()


def start(folder: Path, uri: str, *arguments: str) -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
    command = [sys.executable, "-m", "jobs.audit", *SMALL, f"tracking.uri={uri}", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def runs(server: MlflowServer) -> list[Run]:
    client = MlflowClient(server.uri)
    return client.search_runs([e.experiment_id for e in client.search_experiments()])


@pytest.mark.slow  # a minute
def test_a_server_lost_during_training_gets_its_run_from_the_next(
    server: MlflowServer, tmp_path: Path
) -> None:
    first = start(tmp_path, server.uri)
    while not list(tmp_path.glob("mia_store/*/shard-*")):
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    (live,) = runs(server)
    assert live.info.status == "RUNNING"
    server.kill()
    status, out, err = finish(first)
    assert status == 1
    assert "Traceback" not in err
    assert "The scores are safe in the store" in err.strip().splitlines()[-1]
    assert "Calibrated (headline)" in out
    assert (tmp_path / "mia_report.html").exists()

    server.start()
    status, out, err = finish(start(tmp_path, server.uri))
    assert status == 0, err
    assert "0 to train" in out
    finished, ended = sorted(runs(server), key=lambda run: run.info.status)
    assert (finished.info.status, ended.info.status) == ("FINISHED", "KILLED")
    assert ended.info.run_id == live.info.run_id
    names = {entry.path for entry in MlflowClient(server.uri).list_artifacts(finished.info.run_id)}
    assert {"report.html", "scores", "operating_points.json", "config.yaml"} <= names


def test_progress_is_on_the_page_each_shard_in_the_log_and_no_password_anywhere(
    server: MlflowServer, tmp_path: Path
) -> None:
    uri = server.uri.replace("http://", f"http://ann:{PASSWORD}@")
    status, out, err = finish(start(tmp_path, uri, f"store=file://{tmp_path}/s?token={PASSWORD}"))
    assert status == 0, err
    assert PASSWORD not in out + err
    for path in [*tmp_path.rglob("*"), *server.folder.rglob("*")]:
        assert path.is_dir() or PASSWORD.encode() not in path.read_bytes(), path
    (run,) = runs(server)
    assert run.info.status == "FINISHED"
    client = MlflowClient(server.uri)
    done = client.get_metric_history(run.info.run_id, "progress/models_done")
    assert [point.value for point in done] == [point.step for point in done]
    assert done[-1].step == 32
    assert run.data.metrics["progress/models_per_second"] > 0
    lines = Path(client.download_artifacts(run.info.run_id, "sweep.jsonl")).read_text()
    events = [json.loads(line) for line in lines.splitlines()]
    assert sorted(model for event in events for model in event["models"]) == list(range(32))
    assert {event["event"] for event in events} == {"trained"}
    assert {event["key"] for event in events} == {run.data.tags["store_key"]}
    assert all(event["seconds"] > 0 and event["retries"] == 0 for event in events)
