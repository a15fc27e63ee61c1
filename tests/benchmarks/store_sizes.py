"""python -m tests.benchmarks.store_sizes — a store of 10,000 shards: listing, planning, reading.

CPU seconds, since the machine may be busy; wall seconds beside them.
"""

import argparse
import resource
import sys
import tempfile
import time

import numpy as np

from mia_audit.defences.none import NoDefence
from mia_audit.plan import Plan, plan_sweep
from mia_audit.shard import Shard
from mia_audit.sharding import cut_into_shards
from mia_audit.store import Store
from tests.integration.stand_ins import Noise, blobs

MOST_SECONDS = 5.0


def make_plan(num_models: int, num_records: int) -> Plan:
    model = Noise(width=1)
    return plan_sweep(blobs(num_records), model, NoDefence(), num_models=num_models)


def fill(store: Store, plan: Plan, size: int) -> None:
    """Shards of `size` models with scores that cost nothing."""
    rng = np.random.default_rng(0)
    for first in range(0, plan.num_models, size):
        members = plan.members[first : first + size]
        scores = rng.standard_normal(members.shape, dtype=np.float32)
        accuracy = np.full(len(members), 0.5, dtype=np.float32)
        store.write(plan, Shard(first, scores, members, accuracy, accuracy, 1.0, "cpu"))
    store.record(plan)


def main() -> int:
    """Exit status 0 when the limit is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--models-per-shard", type=int, default=1)
    options = parser.parse_args()
    size = options.models_per_shard
    with tempfile.TemporaryDirectory() as folder:
        fill(Store(folder), make_plan(options.shards * size, options.records), size)
        plan = make_plan(options.shards * size + 32, options.records)
        began, cpu = time.perf_counter(), time.process_time()
        missing = Store(folder).missing(plan)
        shards = cut_into_shards(missing, stack=1, workers=2)
        assert sum(map(len, shards)) == 32
        (entry,) = Store(folder).entries()
        assert entry.num_models == options.shards * size
        planned, wall = time.process_time() - cpu, time.perf_counter() - began
        print(
            f"{options.shards:,} shards listed twice and planned: {planned:.2f} s of CPU, "
            f"{wall:.2f} s (limit {MOST_SECONDS:g} s)"
        )
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began, cpu = time.perf_counter(), time.process_time()
        matrix = Store(folder).load(make_plan(options.shards * size, options.records))
        read, wall = time.process_time() - cpu, time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        held = (matrix.scores.nbytes + matrix.members.nbytes) / 2**20
        print(
            f"read and checked: {read:.1f} s of CPU, {wall:.1f} s; a matrix of {held:,.0f} MB, "
            f"peak {before:,.0f} → {peak:,.0f} MB"
        )
    return 0 if planned <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
