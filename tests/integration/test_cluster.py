"""The jobs on a Ray cluster of several real nodes: joined, submitted to, and losing a node."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mia_audit import config
from mia_audit.plan import Plan
from mia_audit.preparation import prepare
from mia_audit.store import Store
from mia_audit.train_shard import ShardWork, train_shard
from tests.integration.ray_nodes import RayNodes

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["num_models=24", "num_records=200", "model.epochs=2", "cluster.models_per_shard=8"]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayNodes]:
    """A head and one more node, a CPU each, with token authentication."""
    cluster = RayNodes(tmp_path_factory.mktemp("nodes"))
    try:
        cluster.start_head()
        cluster.add()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
def job_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayNodes]:
    """A head alone, which takes jobs."""
    cluster = RayNodes(tmp_path_factory.mktemp("head"), dashboard=True)
    try:
        cluster.start_head()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
def folder(tmp_path: Path, migrated_file: Path) -> Path:
    """An empty current directory but for a migrated tracking file."""
    shutil.copyfile(migrated_file, tmp_path / "mlflow.db")
    return tmp_path


def start(folder: Path, nodes: RayNodes, job: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"jobs.{job}", "cluster=address", *arguments]
    return subprocess.Popen(
        [*command, f"cluster.address={nodes.address}"], cwd=folder, text=True,
        env=nodes.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def planned(*arguments: str) -> Plan:
    return prepare(config.compose("train", list(arguments)).settings).plan


def undisturbed(plan: Plan) -> np.ndarray:
    """The scores of the plan's models, trained here without Ray."""
    work = ShardWork(range(plan.num_models), plan.members, plan.seeds, plan.num_train, "cpu")
    shards = train_shard(plan.dataset, plan.model, plan.ready_defence(), work).shards
    return np.concatenate([shard.scores for shard in shards])


def wait_for_shards(store: Path, count: int, driver: subprocess.Popen[str]) -> None:
    while len(list(store.glob("*/shard-*"))) < count:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.01)


def test_an_audit_on_two_nodes_gives_the_scores_of_one_process(
    nodes: RayNodes, folder: Path
) -> None:
    status, out, err = finish(start(folder, nodes, "audit", *SMALL))
    assert status == 0, err
    assert "24 to train" in out
    plan = planned(*SMALL)
    scores = Store(str(folder / "mia_store")).load(plan).scores
    np.testing.assert_array_equal(scores, undisturbed(plan))


def test_a_node_is_killed_during_a_sweep_on_three(nodes: RayNodes, folder: Path) -> None:
    settings = ["num_models=64", "num_records=400", "model.epochs=60", "cluster.models_per_shard=8"]
    third = nodes.add()
    driver = start(folder, nodes, "train", *settings)
    wait_for_shards(folder / "mia_store", 1, driver)
    nodes.kill(third)
    status, _, err = finish(driver)
    assert status == 0, err
    plan = planned(*settings)
    scores = Store(str(folder / "mia_store")).load(plan).scores
    np.testing.assert_array_equal(scores, undisturbed(plan))


def test_a_submitted_job_audits(job_server: RayNodes, folder: Path) -> None:
    """As the README says it, but for the working directory: nothing is to be uploaded here."""
    ray = str(Path(sys.executable).with_name("ray"))
    entry = f"cd {folder} && {sys.executable} -m jobs.audit cluster=address {' '.join(SMALL)}"
    done = subprocess.run(
        [ray, "job", "submit", "--address", job_server.job_server, "--", "bash", "-c", entry],
        cwd=folder, env=job_server.environment, text=True, capture_output=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 to train" in done.stdout
    assert "succeeded" in done.stdout
    assert (folder / "mia_report.html").exists()


def test_a_folder_that_some_node_does_not_see_is_refused(nodes: RayNodes, folder: Path) -> None:
    """/proc/self/cwd names another folder in each process: here one that only the driver has."""
    driver = start(folder, nodes, "train", *SMALL, "store=/proc/self/cwd/mine")
    status, _, err = finish(driver)
    assert status == 2
    (sentence,) = err.strip().splitlines()
    assert "the cluster has 2 nodes" in sentence
    assert "does not see this folder" in sentence
    assert not (folder / "mine").exists()


def test_another_token_is_refused_in_one_sentence(nodes: RayNodes, folder: Path) -> None:
    command = [sys.executable, "-m", "jobs.train", *SMALL, f"cluster.address={nodes.address}"]
    done = subprocess.run(
        command, cwd=folder, env={**nodes.environment, "RAY_AUTH_TOKEN": "another"},
        text=True, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "set RAY_AUTH_TOKEN to the token of the cluster" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert nodes.environment["RAY_AUTH_TOKEN"] not in done.stdout + done.stderr
    assert not (folder / "mia_store").exists()
