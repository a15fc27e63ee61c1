"""A store on S3: the whole main job through the real client, the server's loss and its return."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from mia_audit import store_files
from mia_audit.cluster import Cluster
from mia_audit.config import compose
from mia_audit.faults import StoreError
from mia_audit.preparation import prepare
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.store_command import run_store
from mia_audit.sweep import connect, disconnect, run_sweep
from tests.integration.driver import QUICK, make_plan
from tests.integration.s3_server import SECRET, Relay, bucket_on_s3
from tests.integration.test_faults import undisturbed

pytest.importorskip("s3fs")
pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SMALL = (
    "dataset=german_credit", "num_records=200", "num_models=16", "model=logistic",
    "cluster.num_cpus=2", "cluster.models_per_shard=1",
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    """The server's relay; its address and keys are in this process's environment."""
    with bucket_on_s3(tmp_path_factory.mktemp("s3"), "bucket") as relay:
        yield relay


@pytest.mark.slow  # half a minute; test_remote_job.py has its first run
def test_the_main_job_stores_its_scores_on_s3(
    server: Relay, tmp_path: Path, migrated_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copyfile(migrated_file, tmp_path / "mlflow.db")
    command = [sys.executable, "-m", "jobs.audit", *SMALL, "store=s3://bucket/mia"]
    told = []
    for _ in range(2):
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)
    assert "0 in the store, 16 to train" in " ".join(told[0].split())
    assert "16 in the store, 0 to train" in " ".join(told[1].split())
    assert SECRET not in "".join(told) + (tmp_path / "mia_report.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"mlflow.db", "mlruns", "mia_report.html"}
    local = _scores(f"store={tmp_path / 'local'}")
    np.testing.assert_array_equal(_scores("store=s3://bucket/mia"), local)
    assert run_store(["list", "store=s3://bucket/mia"]) == 0
    (key,) = {line.split()[0] for line in capsys.readouterr().out.splitlines() if "models," in line}
    assert run_store(["remove", f"key={key}", "store=s3://bucket/mia"]) == 0
    assert Store("s3://bucket/mia").entries() == []


def _scores(store: str) -> np.ndarray:
    prepared = prepare(compose("train", [*SMALL, store]).settings)
    if prepared.store.missing(prepared.plan):
        quiet = Progress(Console(quiet=True))
        run_sweep(prepared.plan, prepared.store, cluster=Cluster(num_cpus=2), progress=quiet)
        disconnect()
    return prepared.store.load(prepared.plan).scores


class Watched(Progress):
    """Calls `at_first` when the first models are in the store."""

    def __init__(self, at_first: "threading.Event") -> None:
        super().__init__(Console(quiet=True))
        self._at_first = at_first

    def advance(self, models: int) -> None:
        super().advance(models)
        self._at_first.set()


def sweep(url: str, started: threading.Event) -> None:
    cluster = Cluster(num_cpus=2, models_per_shard=4)
    connect(cluster)
    run_sweep(make_plan(QUICK), Store(url), cluster=cluster, progress=Watched(started))


def leave_at_first_shard(relay: Relay, started: threading.Event, seconds: float | None) -> None:
    started.wait(300)
    relay.leave()
    if seconds is not None:
        time.sleep(seconds)
        relay.come_back()


@pytest.mark.slow
def test_a_server_that_comes_back_in_time_is_waited_for(server: Relay) -> None:
    started = threading.Event()
    thread = threading.Thread(target=leave_at_first_shard, args=(server, started, 8.0))
    thread.start()
    sweep("s3://bucket/short", started)
    thread.join()
    disconnect()
    matrix = Store("s3://bucket/short").load(make_plan(QUICK))
    np.testing.assert_array_equal(matrix.scores, undisturbed(QUICK))


@pytest.mark.slow
def test_a_server_that_stays_away_is_one_sentence_and_the_next_run_goes_on(
    server: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "PATIENCE", (0.5,))
    plan, url, started = make_plan(QUICK), "s3://bucket/long", threading.Event()
    thread = threading.Thread(target=leave_at_first_shard, args=(server, started, None))
    thread.start()
    with pytest.raises(StoreError, match=r"^store=s3://bucket/long: .* run the same command again"):
        sweep(url, started)
    thread.join()
    server.come_back()
    left = len(Store(url).missing(plan))
    assert 0 < left < plan.num_models
    sweep(url, threading.Event())
    disconnect()
    np.testing.assert_array_equal(Store(url).load(plan).scores, undisturbed(QUICK))
    names = {info.name for info in Store(url)._files.names(plan.key)}
    assert all(name.startswith(("shard-", "plan.json", "record_ids.csv")) for name in names)
