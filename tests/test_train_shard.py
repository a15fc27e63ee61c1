"""A stack that raises or a model that diverges fails alone."""

import subprocess
import sys

import numpy as np

from mia_audit.defences.none import NoDefence
from mia_audit.plan import Plan, plan_sweep
from mia_audit.train_shard import ShardWork, train_shard
from tests.integration.stand_ins import Noise, Picky, blobs


def work(plan: Plan, models: range) -> ShardWork:
    rows = slice(models.start, models.stop)
    return ShardWork(models, plan.members[rows], plan.seeds[rows], plan.num_train, "cpu")


def test_stacks_are_aligned_on_the_model_index() -> None:
    seen: list[tuple[list[int], str, int]] = []

    class Spy(Noise):
        def train(self, dataset, members, seeds, *, num_train, device="cpu", slots=None):  # type: ignore[no-untyped-def]
            seen.append((slots.tolist(), device, num_train))
            return super().train(dataset, members, seeds, num_train=num_train)

    plan = plan_sweep(blobs(), Spy(width=4), NoDefence(), num_models=12)
    shards = train_shard(plan.dataset, plan.model, plan.defence, work(plan, range(2, 9))).shards
    assert seen == [([2, 3], "cpu", 20), ([0, 1, 2, 3], "cpu", 20), ([0], "cpu", 20)]
    assert [shard.models for shard in shards] == [range(2, 4), range(4, 8), range(8, 9)]


def test_failures_are_kept_apart() -> None:
    seeds = plan_sweep(blobs(), Noise(), NoDefence(), num_models=12).seeds.tolist()
    picky = Picky(width=4, raises_at=[seeds[1]], diverges_at=[seeds[5], seeds[11]])
    plan = plan_sweep(blobs(), picky, NoDefence(), num_models=12)
    result = train_shard(plan.dataset, plan.model, plan.defence, work(plan, range(12)))
    assert [s.models for s in result.shards] == [range(4, 5), range(6, 8), range(8, 11)]
    assert list(result.failed) == [0, 1, 2, 3, 5, 11]
    assert result.failed[0] == "RuntimeError: no such luck"
    assert result.failed[5].startswith("its scores are not finite")
    for shard in result.shards:
        rows = slice(shard.first, shard.first + len(shard.scores))
        np.testing.assert_array_equal(shard.members, plan.members[rows])
        assert shard.seconds > 0


def test_the_seconds_of_training_do_not_count_the_import_of_torch() -> None:
    """A comparison's relative cost would else be the import's wherever models are small."""
    code = (
        "import sys, time\n"
        "from mia_audit.defences.none import NoDefence\n"
        "from mia_audit.plan import plan_sweep\n"
        "from mia_audit.train_shard import train_shard\n"
        "from tests.integration.stand_ins import Noise, blobs\n"
        "from tests.test_train_shard import work\n"
        "plan = plan_sweep(blobs(), Noise(), NoDefence(), num_models=4)\n"
        "assert 'torch' not in sys.modules\n"
        "clock, read = time.perf_counter, []\n"
        "time.perf_counter = lambda: read.append('torch' in sys.modules) or clock()\n"
        "train_shard(plan.dataset, plan.model, plan.defence, work(plan, range(4)))\n"
        "print(read)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, True]"
