"""Rounds of faults: real processes, killed at random moments. Whatever happened, the next run ends
with the scores of an undisturbed one, bit by bit, and leaves neither files nor processes behind.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mia_audit.shard import shard_models
from mia_audit.store import Store
from mia_audit.train_shard import ShardWork, train_shard
from tests.integration.driver import QUICK, make_plan
from tests.integration.processes import Marked

pytestmark = pytest.mark.integration

ROUNDS_IN_CI, ROUNDS = 3, 36
EPOCHS = "20"
SHARDS = 32  # files of the quick plan; the perceptrons' has 16
WORKER, NODE = "ray::", "raylet/raylet"
PATIENCE = 400  # seconds for a run; the machine may be busy


@pytest.fixture(scope="session")
def departed() -> Iterator[list[Marked]]:
    """Rounds whose processes must be gone LONGEST_LIFE after they ended; checked at the end."""
    rounds: list[Marked] = []
    yield rounds
    for marked in rounds:
        assert marked.wait_until_gone() == {}


def undisturbed(work: str) -> np.ndarray:
    """Scores of the plan as one bare process trains them, float32 [M, N]."""
    plan = make_plan(work)
    models = range(plan.num_models)
    whole = ShardWork(models, plan.members, plan.seeds, plan.num_train, "cpu")
    shards = train_shard(plan.dataset, plan.model, plan.defence, whole).shards
    return np.concatenate([shard.scores for shard in shards])


class Round:
    """One store, one plan, and a driver that something happens to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.work = EPOCHS if seed % 6 == 5 else QUICK
        self.store = folder / "store"
        self.folder = self.store / make_plan(self.work).key
        self.marked = Marked()
        self.driver = self.start()

    def start(self) -> "subprocess.Popen[str]":
        return self.marked.start("tests.integration.driver", str(self.store), self.work)

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Until it happened or the driver has ended."""
        while not happened() and self.driver.poll() is None:
            time.sleep(0.01)

    def wait_for_a_random_moment(self) -> None:
        """Anywhere between the start of the process and the last shard."""
        shards = int(self.rng.integers(-3, SHARDS))
        if shards < 0:  # before there is any: importing, starting Ray, writing the plan
            stages = (lambda: self.store.exists(), lambda: bool(self.workers()), lambda: False)
            self.wait_for(stages[shards])
            time.sleep(self.rng.uniform(0, 1.0))
        else:
            self.wait_for(lambda: len(self.shards()) >= shards)
            time.sleep(self.rng.uniform(0, 0.2))

    def workers(self) -> list[int]:
        return [pid for pid, line in self.marked.alive().items() if WORKER in line]

    def shards(self) -> list[Path]:
        return sorted(self.folder.glob("shard-*")) if self.folder.exists() else []

    def held(self) -> list[int]:
        """The models of all shards, in order; one that two shards hold stands twice."""
        return sorted(model for path in self.shards() for model in shard_models(path.name) or [-1])

    def end(self, *allowed: int) -> None:
        """Wait for the driver; its status must be one of those allowed, or 0."""
        try:
            _, errors = self.driver.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            raise
        assert self.driver.returncode in (0, *allowed), errors
        if self.driver.returncode != -signal.SIGKILL:
            assert "Traceback" not in errors or self.driver.returncode < 0

    def finish(self) -> None:
        """Run again and check everything."""
        self.driver = self.start()
        self.end()
        plan = make_plan(self.work)
        matrix = Store(str(self.store)).load(plan)
        np.testing.assert_array_equal(matrix.scores, undisturbed(self.work))
        assert {path.name for path in self.store.iterdir()} == {plan.key}
        names = {path.name for path in self.folder.iterdir()}
        assert names - {path.name for path in self.shards()} == {"plan.json", "record_ids.csv"}
        assert self.held() == list(range(plan.num_models))


def kill_a_worker(round_: Round) -> None:
    round_.wait_for_a_random_moment()
    round_.marked.kill_one(WORKER, round_.rng.uniform())
    round_.end()


def kill_the_driver(round_: Round) -> None:
    round_.wait_for_a_random_moment()
    round_.driver.kill()
    round_.end(-signal.SIGKILL)


def terminate_the_driver(round_: Round) -> None:
    round_.wait_for_a_random_moment()
    round_.driver.terminate()
    round_.end(-signal.SIGTERM, 128 + signal.SIGTERM)


def press_ctrl_c(round_: Round) -> None:
    """The terminal sends it to the whole group, Ray's processes included."""
    round_.wait_for_a_random_moment()
    os.killpg(round_.driver.pid, signal.SIGINT)
    round_.end(-signal.SIGINT, 128 + signal.SIGINT)


def kill_the_node(round_: Round) -> None:
    """The only node of a local Ray: the run cannot go on, but must end."""
    round_.wait_for_a_random_moment()
    round_.marked.kill_one(NODE, 0.0)
    round_.end(1, -signal.SIGTERM, 128 + signal.SIGTERM)


def damage_shards(round_: Round) -> None:
    """One truncated, one with a bit turned, one half written by a process that is dead."""
    round_.wait_for(lambda: len(round_.shards()) >= 3)
    round_.driver.kill()
    round_.end(-signal.SIGKILL)
    first, second, *_ = round_.rng.permutation(np.array(round_.shards()))
    content = first.read_bytes()
    first.write_bytes(content[: round_.rng.integers(len(content))])
    content = bytearray(second.read_bytes())
    content[round_.rng.integers(len(content))] ^= 1 << round_.rng.integers(8)
    second.write_bytes(content)
    half = f".tmp-{os.uname().nodename}-{round_.driver.pid}-00000000"
    (round_.folder / half).write_bytes(content[:100])


def two_drivers(round_: Round) -> None:
    """Both run the same key; the first is killed, the other must end well by itself."""
    first, round_.driver = round_.driver, round_.start()
    round_.wait_for_a_random_moment()
    first.kill()
    first.communicate()
    round_.end()
    assert round_.held() == list(range(128))  # nothing was trained twice


FAULTS = (
    kill_the_driver, two_drivers, kill_a_worker,
    terminate_the_driver, press_ctrl_c, damage_shards, kill_the_node,
)  # fmt: skip


def play(folder: Path, seed: int, departed: list[Marked]) -> None:
    round_ = Round(folder, seed)
    try:
        FAULTS[seed % len(FAULTS)](round_)
        round_.finish()
    finally:
        round_.driver.kill()
        round_.marked.ended = time.monotonic()
        departed.append(round_.marked)


@pytest.mark.parametrize("seed", range(ROUNDS_IN_CI))
def test_a_round(tmp_path: Path, seed: int, departed: list[Marked]) -> None:
    play(tmp_path, seed, departed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(ROUNDS_IN_CI, ROUNDS))
def test_more_rounds(tmp_path: Path, seed: int, departed: list[Marked]) -> None:
    play(tmp_path, seed, departed)
