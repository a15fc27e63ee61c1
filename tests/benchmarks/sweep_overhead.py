"""python -m tests.benchmarks.sweep_overhead — a sweep through Ray against bare processes.

Both train the same shards of the same models on Adult, one thread a process, one process a core.
The bare processes are up, have imported all they need and share the shards beforehand; they keep
their results. Through Ray the clock runs from the first task's submission, with workers up, to the
last shard in the store: handing out, fetching, checking and writing included.
"""

import argparse
import importlib
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.data import Adult, draw_pool
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import Plan, plan_sweep
from mia_audit.progress import Progress
from mia_audit.sharding import cut_into_shards
from mia_audit.store import Store
from mia_audit.sweep import connect, disconnect, run_sweep
from mia_audit.train_shard import ShardWork, train_shard

MOST = 1.10
WARM_MODULES = ("torch", "mia_audit.models.mlp_training", "mia_audit.train_shard")


def make_plan(num_models: int, epochs: int, seed: int) -> Plan:
    """The default sweep on 4,000 records of Adult."""
    pool = draw_pool(Adult().load(), 4000, seed=0)
    model = MLP(epochs=epochs)
    return plan_sweep(pool, model, NoDefence(), num_models=num_models, seed=seed)


def bare_process(pipe: Connection, plan: Plan, works: list[ShardWork]) -> None:
    """Say that all is imported, wait for the start, train the shards, say that they are done."""
    for module in WARM_MODULES:
        importlib.import_module(module)
    pipe.send("ready")
    pipe.recv()
    results = [train_shard(plan.dataset, plan.model, plan.defence, work) for work in works]
    assert not any(result.failed for result in results)
    pipe.send("done")


def through_bare_processes(plan: Plan, workers: int) -> float:
    """Seconds from the start to the last process's end."""
    stack = plan.model.stack("cpu")
    shards = cut_into_shards(np.arange(plan.num_models).tolist(), stack=stack, workers=workers)
    works = [_work(plan, models) for models in shards]
    context = multiprocessing.get_context("spawn")
    pipes: list[Any] = []
    for worker in range(workers):
        ours, theirs = context.Pipe()
        arguments = (theirs, plan, works[worker::workers])
        context.Process(target=bare_process, args=arguments, daemon=True).start()
        theirs.close()  # so that a process that dies is noticed
        pipes.append(ours)
    for pipe in pipes:
        assert pipe.recv() == "ready"
    began = time.perf_counter()
    for pipe in pipes:
        pipe.send("start")
    for pipe in pipes:
        assert pipe.recv() == "done"
    return time.perf_counter() - began


def _work(plan: Plan, models: range) -> ShardWork:
    rows = slice(models.start, models.stop)
    return ShardWork(models, plan.members[rows], plan.seeds[rows], plan.num_train, "cpu")


def through_ray(plan: Plan, workers: int) -> float:
    """Seconds of a sweep into an empty store, with workers up; prints how busy they were."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = Progress(Console(quiet=True))
        store = Store(folder)
        report = run_sweep(plan, store, cluster=Cluster(num_cpus=workers), progress=quiet)
        assert report.trained == plan.num_models
        busy = store.load(plan).seconds / (workers * report.seconds)
        print(f"  through Ray: {report.seconds:.2f} s, workers trained {busy:.1%} of the time")
        return report.seconds


def start_ray(workers: int) -> float:
    """Seconds until a local Ray with warm workers has trained its first models."""
    began = time.perf_counter()
    connect(Cluster(num_cpus=workers), modules=WARM_MODULES)
    through_ray(make_plan(workers * 32, 1, seed=99), workers)
    return time.perf_counter() - began


def main() -> int:
    """Print both medians and their ratio; exit status 1 if it is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"start of Ray and its workers: {start_ray(options.workers):.1f} s (shown apart)")
    plan = make_plan(options.models, options.epochs, seed=0)
    variants: dict[str, Callable[[Plan, int], float]] = {
        "one bare process a core": through_bare_processes,
        "through Ray": through_ray,
    }
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(options.rounds):
        for name, variant in variants.items():
            seconds[name].append(variant(plan, options.workers))
    disconnect()
    for name, values in seconds.items():
        spread = f"{min(values):.2f} … {max(values):.2f}"
        print(f"{name:<24} {statistics.median(values):8.2f} s   {spread}")
    bare, ray = (statistics.median(values) for values in seconds.values())
    verdict = "reached" if ray <= MOST * bare else "MISSED"
    print(f"{options.models} models, ratio {ray / bare:.3f}   limit ≤ {MOST:g} {verdict}")
    return 0 if ray <= MOST * bare else 1


if __name__ == "__main__":
    sys.exit(main())
