"""A driver killed at any moment: the next run goes on, and the scores are the same to the bit."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.sweep import disconnect, run_sweep
from mia_audit.train_shard import ShardWork, train_shard
from tests.integration.driver import make_plan

# The rounds of test_faults.py cover the same in the fast suite.
pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
EPOCHS = 20


def start_driver(store: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.driver", str(store), str(EPOCHS)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_shards(store: Path, count: int, driver: "subprocess.Popen[str]") -> None:
    while len(list(store.glob("*/shard-*"))) < count:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_goes_on_where_it_was_ended(tmp_path: Path, number: signal.Signals) -> None:
    plan = make_plan(EPOCHS)
    driver = start_driver(tmp_path)
    wait_for_shards(tmp_path, 1, driver)
    driver.send_signal(number)
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode in (-number, 128 + number), errors
    half = tmp_path / plan.key / f".tmp-{os.uname().nodename}-{driver.pid}-00000000"
    half.write_bytes(b"half a shard")  # as if it had been killed while writing
    held = plan.num_models - len(Store(str(tmp_path)).missing(plan))
    assert 0 < held < plan.num_models

    store = Store(str(tmp_path))
    quiet = Progress(Console(quiet=True))
    report = run_sweep(plan, store, cluster=Cluster(num_cpus=1), progress=quiet)
    disconnect()
    assert (report.reused, report.trained) == (held, plan.num_models - held)
    assert not half.exists()
    work = ShardWork(range(128), plan.members, plan.seeds, plan.num_train, "cpu")
    bare = train_shard(plan.dataset, plan.model, plan.defence, work)
    scores = np.concatenate([shard.scores for shard in bare.shards])
    np.testing.assert_array_equal(store.load(plan).scores, scores)
