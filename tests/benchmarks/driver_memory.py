"""python -m tests.benchmarks.driver_memory — 10,000 tiny models: is the driver's memory flat?

The driver's resident memory is read each time a tenth of the models is in the store. What it holds
from the start (the plan's members [M, N] and seeds) is there at the first reading.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.defences.none import NoDefence
from mia_audit.nodes import connect, disconnect
from mia_audit.plan import plan_sweep
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.sweep import run_sweep
from tests.integration.stand_ins import Noise, blobs

MOST_GROWTH = 0.10  # of the first reading, from the first tenth to the last


class Measured(Progress):
    """Notes the driver's resident memory at every tenth of the models."""

    def __init__(self, planned: int) -> None:
        super().__init__(Console(quiet=True))
        self.readings: list[float] = []
        self._every, self._stored = planned / 10, 0

    def advance(self, models: int) -> None:
        super().advance(models)
        self._stored += models
        if self._stored >= self._every * (len(self.readings) + 1):
            self.readings.append(resident())


def resident() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    """Exit status 0 when the memory stays flat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    plan = plan_sweep(
        blobs(options.records), Noise(width=8), NoDefence(), num_models=options.models
    )
    cluster, progress = Cluster(num_cpus=options.workers), Measured(options.models)
    connect(cluster)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = run_sweep(plan, Store(folder), cluster=cluster, progress=progress)
    disconnect()
    assert report.trained == options.models
    first, last = progress.readings[0], progress.readings[-1]
    print("MB at each tenth:", *(f"{reading:.0f}" for reading in progress.readings))
    print(
        f"{options.models:,} models, {time.perf_counter() - began:.0f} s, growth "
        f"{last / first - 1:+.1%} (limit {MOST_GROWTH:.0%})"
    )
    return 0 if last <= first * (1 + MOST_GROWTH) else 1


if __name__ == "__main__":
    sys.exit(main())
