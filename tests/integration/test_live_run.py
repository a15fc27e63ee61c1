"""The run that shows a sweep while it trains: it ends in the right state whatever happens."""

import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from mia_audit.tracking import LiveRun, Ready, Tracking, log_run, prepare

pytestmark = pytest.mark.integration

KEY = "0123456789abcdef"


@pytest.fixture
def tracking(tracking_uri: str) -> Tracking:
    return Tracking(uri=tracking_uri)


def live_run(tracking: Tracking, ready: Ready) -> LiveRun:
    return LiveRun(
        tracking, ready, name="none mlp adult", tags={"kind": "audit"}, key=KEY, started=time.time()
    )


def client(tracking: Tracking) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=tracking.uri)


def status(tracking: Tracking, run_id: str) -> str:
    return str(client(tracking).get_run(run_id).info.status)


def test_reports_reach_the_open_run_and_the_audit_finishes_it(tracking: Tracking) -> None:
    with live_run(tracking, prepare(tracking)) as run:
        run.report({"progress/models_done": 8.0}, step=8)
        assert status(tracking, run.run_id) == "RUNNING"
    for _ in range(100):
        history = client(tracking).get_metric_history(run.run_id, "progress/models_done")
        if history:
            break
        time.sleep(0.1)
    assert [(point.step, point.value) for point in history] == [(8, 8.0)]
    link = log_run(
        tracking, name="none mlp adult", params={"seed": 0}, metrics={"auc": 0.6},
        tags={"kind": "audit"}, run_id=run.run_id,
    )  # fmt: skip
    found = client(tracking).get_run(run.run_id)
    assert link.run_id == run.run_id
    assert found.info.status == "FINISHED"
    assert found.data.metrics == {"progress/models_done": 8.0, "auc": 0.6}


@pytest.mark.parametrize(("error", "ended"), [(KeyboardInterrupt, "KILLED"), (OSError, "FAILED")])
def test_an_exception_ends_it(tracking: Tracking, error: type[BaseException], ended: str) -> None:
    run = live_run(tracking, prepare(tracking))
    run_id = run.run_id
    with pytest.raises(error), run:
        raise error
    assert status(tracking, run_id) == ended


def test_what_a_dead_driver_left_is_ended_by_the_next(tracking: Tracking) -> None:
    ready = prepare(tracking)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    hosts = {"dead": f"{socket.gethostname()}:{dead.pid}", "alive": f"{socket.gethostname()}:1"}
    hosts |= {"elsewhere": f"another-host:{dead.pid}", "unknown": ""}
    left = {}
    for name, driver in hosts.items():
        tags = {"store_key": KEY} | ({"mia_audit.driver": driver} if driver else {})
        left[name] = client(tracking).create_run(ready.experiment_id, tags=tags).info.run_id
    run = live_run(tracking, ready)
    found = {name: status(tracking, run_id) for name, run_id in left.items()}
    assert found.pop("dead") == "KILLED"
    assert set(found.values()) == {"RUNNING"}
    driver = client(tracking).get_run(run.run_id).data.tags["mia_audit.driver"]
    assert driver == f"{socket.gethostname()}:{os.getpid()}"


def test_a_server_that_is_gone_is_borne_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with live_run(Tracking(uri=uri), Ready("1", "")) as run:
        run.report({"progress/models_done": 8.0}, step=8)
    assert run.run_id == ""
