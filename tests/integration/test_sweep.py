"""Sweeps through a real local Ray with two workers."""

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import Plan, plan_sweep
from mia_audit.progress import Progress
from mia_audit.shard import shard_models
from mia_audit.stats.design import model_seeds
from mia_audit.store import Store
from mia_audit.sweep import SweepReport, connect, disconnect, run_sweep
from tests.integration.stand_ins import Deadly, Hungry, Noise, Picky, blobs

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def two_workers() -> Iterator[None]:
    connect(Cluster(num_cpus=2))
    yield
    disconnect()


def plan(model: Any, num_models: int = 16, **settings: Any) -> Plan:
    return plan_sweep(blobs(), model, NoDefence(), num_models=num_models, seed=3, **settings)


def sweep(plan: Plan, store: Store, **cluster: Any) -> SweepReport:
    quiet = Progress(Console(quiet=True))
    return run_sweep(plan, store, cluster=Cluster(num_cpus=2, **cluster), progress=quiet)


def held(folder: Path, plan: Plan) -> list[range]:
    names = sorted(file.name for file in (folder / plan.key).glob("shard-*"))
    return [models for name in names if (models := shard_models(name))]


def test_scores_are_those_of_the_bare_model(tmp_path: Path) -> None:
    wanted = plan(Noise())
    store = Store(str(tmp_path))
    report = sweep(wanted, store)
    matrix = store.load(wanted)
    outputs = Noise().train(wanted.dataset, wanted.members, wanted.seeds, num_train=20)
    right = outputs.predictions() == wanted.dataset.y
    assert (report.trained, report.reused, report.failed) == (16, 0, {})
    assert report.devices == matrix.devices == ("cpu",)
    np.testing.assert_array_equal(matrix.scores, outputs.confidence(wanted.dataset.y))
    for model in range(16):
        inside = wanted.members[model]
        assert matrix.train_accuracy[model] == pytest.approx(right[model, inside].mean())
        assert matrix.test_accuracy[model] == pytest.approx(right[model, ~inside].mean())


def test_a_second_run_trains_nothing_and_reports_the_recorded_seconds(tmp_path: Path) -> None:
    wanted = plan(Noise())
    store = Store(str(tmp_path))
    sweep(wanted, store)
    seconds = store.load(wanted).seconds
    report = sweep(wanted, Store(str(tmp_path)))
    assert (report.trained, report.reused) == (0, 16)
    assert store.load(wanted).seconds == seconds > 0


def test_more_models_train_only_the_new_ones(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    few, many = plan(MLP(hidden=[4], epochs=2), 8), plan(MLP(hidden=[4], epochs=2), 16)
    sweep(few, store)
    before = store.load(few).scores
    report = sweep(many, store)
    assert few.key == many.key
    assert (report.trained, report.reused) == (8, 8)
    assert held(tmp_path, many) == [range(8), range(8, 16)]
    fresh = Store(str(tmp_path / "fresh"))
    sweep(many, fresh)
    after = store.load(many).scores
    np.testing.assert_array_equal(after[:8], before)
    np.testing.assert_array_equal(after, fresh.load(many).scores)


@pytest.mark.parametrize("models_per_shard", [1, 33, 64])
def test_bits_do_not_depend_on_the_shard_size(tmp_path: Path, models_per_shard: int) -> None:
    wanted = plan(MLP(hidden=[4], epochs=2), 70)
    one = Store(str(tmp_path / "one"))
    sweep(wanted, one)
    other = Store(str(tmp_path / "other"))
    sweep(wanted, other, models_per_shard=models_per_shard)
    np.testing.assert_array_equal(one.load(wanted).scores, other.load(wanted).scores)


def test_a_damaged_shard_is_trained_again(tmp_path: Path) -> None:
    wanted = plan(Noise())
    sweep(wanted, Store(str(tmp_path)))
    before = Store(str(tmp_path)).load(wanted).scores
    victim = sorted((tmp_path / wanted.key).glob("shard-*"))[1]
    victim.write_bytes(victim.read_bytes()[:-100])
    store = Store(str(tmp_path))
    console = Console(record=True, file=io.StringIO(), width=200)
    report = run_sweep(wanted, store, cluster=Cluster(num_cpus=2), progress=Progress(console))
    assert f"{victim.name} is damaged" in console.export_text()
    assert report.trained == len(shard_models(victim.name) or ()) == 4
    assert not store.damaged(wanted)
    assert len(held(tmp_path, wanted)) == 4
    np.testing.assert_array_equal(store.load(wanted).scores, before)


def test_a_worker_that_dies_is_tried_again(tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    wanted = plan(Deadly(fuse=str(fuse), deaths=1), 4)
    report = sweep(wanted, Store(str(tmp_path / "store")))
    assert (report.trained, report.failed) == (4, {})
    assert fuse.read_text().count("x") == 2


def test_models_that_fail_are_named_and_the_rest_is_trained(tmp_path: Path) -> None:
    seeds = model_seeds(32, seed=3).tolist()
    model = Picky(width=2, raises_at=[seeds[5]], diverges_at=[seeds[12]], dies_at=[seeds[21]])
    wanted = plan(model, 32)
    store = Store(str(tmp_path))
    report = sweep(wanted, store, models_per_shard=8, max_retries=1)
    assert list(report.failed) == [4, 5, 12, 20, 21]
    assert report.failed[4] == report.failed[5] == "RuntimeError: no such luck"
    assert "not finite" in report.failed[12]
    assert "worker process died (tried 2 times)" in report.failed[20]
    matrix = store.load(wanted)
    assert report.trained == matrix.num_models == 27
    assert matrix.missing == (4, 5, 12, 20, 21)
    np.testing.assert_array_equal(matrix.members, np.delete(wanted.members, matrix.missing, 0))
    again = sweep(wanted, store, max_retries=0)
    assert (again.trained, again.reused, list(again.failed)) == (0, 27, list(report.failed))


def test_stacks_out_of_memory_are_trained_alone(tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    seeds = model_seeds(16, seed=3).tolist()
    model = Hungry(width=2, folder=str(tmp_path / "running"), never_fits=[seeds[6]])
    wanted = plan(model, 16)
    store = Store(str(tmp_path / "store"))
    console = Console(record=True, file=io.StringIO(), width=200)
    cluster = Cluster(num_cpus=2, models_per_shard=8)
    report = run_sweep(wanted, store, cluster=cluster, progress=Progress(console))
    assert report.failed == dict.fromkeys((6, 7), "MemoryError: no room for the activations")
    assert report.trained == 14
    assert store.load(wanted).missing == (6, 7)
    told = console.export_text()
    assert "ran out of memory: it is tried again with less beside it" in told
    assert "models 6-7 failed: MemoryError: no room for the activations." in told


def test_progress_on_a_file_is_lines(tmp_path: Path) -> None:
    console = Console(record=True, width=200, force_terminal=False)
    wanted = plan(Noise())
    cluster = Cluster(num_cpus=2)
    run_sweep(wanted, Store(str(tmp_path)), cluster=cluster, progress=Progress(console))
    lines = console.export_text().splitlines()
    assert lines[0] == "Training 16 models; 0 are in the store."
    assert lines[-1].startswith("16 of 16 models, ")


IMPATIENT = """
import atexit, os, signal, threading, time
from mia_audit.cluster import Cluster
from mia_audit.nodes import connect

leaving = threading.Event()

def press_ctrl_c() -> None:
    leaving.wait()
    while True:
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press_ctrl_c, daemon=True).start()
connect(Cluster(num_cpus=1))
atexit.register(leaving.set)
"""


def test_ctrl_c_while_ray_is_stopped_at_exit_is_not_heard() -> None:
    """It used to end in a segmentation fault, with the work done."""
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
