"""Train what the store lacks: one Ray task a shard of models, results written by the driver.

Workers only compute, so a store on the driver's own disk serves a whole cluster, and credentials
stay with the driver. The unit of loss is a shard: whatever ends a sweep, the next run goes on
from the shards in the store.
"""

from __future__ import annotations

import importlib
import logging
import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mia_audit.cluster import Cluster, no_answer
from mia_audit.plan import Plan
from mia_audit.progress import Progress
from mia_audit.sharding import cut_into_shards, cut_into_stacks
from mia_audit.store import Store
from mia_audit.train_shard import ShardResult, ShardWork, train_shard

# Tasks waiting beyond those that run: keeps workers busy and tells an autoscaler to grow.
_AHEAD = 4
_RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # sends nothing home
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a warning at every task
    "RAY_task_oom_retries": "3",  # else for ever
    "RAY_worker_niceness": "0",  # else 15: starved by anything else that runs
}
_POLL = 5.0  # seconds between looks at the size of the cluster


@dataclass(frozen=True)
class SweepReport:
    """What a sweep did: counts of models, a cause for each model that failed, wall seconds."""

    trained: int
    reused: int
    failed: dict[int, str]
    seconds: float
    devices: tuple[str, ...]


def connect(cluster: Cluster, *, modules: Sequence[str] = ()) -> None:
    """Start Ray on this machine or join a cluster; nothing happens when that is done already.

    Local workers begin to import `modules` (such as the one that defines the model) at once. To
    be called from a thread that lives on: Ray's processes end with the one that started them.
    Raises ValueError when no cluster answers at the address.
    """
    import ray

    if ray.is_initialized():
        return
    cluster.check()
    for name, value in _RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    address = cluster.resolved_address
    local: dict[str, Any] = {}
    if cluster.is_local:
        local = {
            "num_cpus": cluster.num_cpus,
            "num_gpus": math.ceil(cluster.num_gpus),
            "include_dashboard": False,
        }
    try:
        with _own_signal_handlers():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
    except ConnectionError as error:
        raise no_answer(address) from error
    if cluster.is_local and modules:
        warm = ray.remote(num_cpus=1)(_import_modules)
        for _ in range(_num_workers(cluster)):
            warm.remote(tuple(modules))


def disconnect() -> None:
    """Stop a local Ray, or leave the cluster; its running tasks end."""
    import ray

    ray.shutdown()


def run_sweep(plan: Plan, store: Store, *, cluster: Cluster, progress: Progress) -> SweepReport:
    """Train every model of the plan that the store does not hold whole.

    Models that fail are in the report and the rest goes on; the next run tries them again. Any
    exception, an interrupt included, ends Ray and leaves the finished shards in the store.
    """
    began = time.perf_counter()
    store.record(plan)
    for name in store.verify(plan):
        progress.note(f"{name} is damaged or of another sweep: its models are trained again.")
    store.clean(plan)
    missing = store.missing(plan)
    reused = plan.num_models - len(missing)
    failed: dict[int, str] = {}
    if missing:
        with progress.of(plan.num_models, held=reused):
            failed = _train_all(plan, store, missing, cluster, progress)
        store.clean(plan)
    return SweepReport(
        trained=len(missing) - len(failed),
        reused=reused,
        failed=dict(sorted(failed.items())),
        seconds=time.perf_counter() - began,
        devices=(cluster.device,) if missing else (),
    )


def _train_all(
    plan: Plan, store: Store, missing: list[int], cluster: Cluster, progress: Progress
) -> dict[int, str]:
    """Train the missing models. Returns the cause of each failure."""
    wanted = set(missing)
    failed: dict[int, str] = {}
    try:
        connect(cluster)
        for result in _results(plan, missing, cluster, progress):
            for shard in result.shards:
                store.write(plan, shard)
                progress.advance(len(wanted.intersection(shard.models)))
            causes = {model: why for model, why in result.failed.items() if model in wanted}
            progress.fail(causes)
            failed |= causes
    except BaseException:
        disconnect()
        raise
    return failed


def _results(
    plan: Plan, missing: list[int], cluster: Cluster, progress: Progress
) -> Iterator[ShardResult]:
    """Submit the shards with back-pressure and yield results as they come."""
    import ray

    workers = max(1, _num_workers(cluster))
    stack = plan.model.stack(cluster.device)
    waiting = deque(
        cut_into_shards(
            missing, stack=stack, workers=workers, models_per_shard=cluster.models_per_shard
        )
    )
    task = ray.remote(**_task_options(cluster))(train_shard)
    dataset, defence = ray.put(plan.dataset), plan.ready_defence()
    pending: dict[Any, range] = {}
    while waiting or pending:
        while waiting and len(pending) < workers + _AHEAD:
            models = waiting.popleft()
            work = _work(plan, models, cluster.device)
            pending[task.remote(dataset, plan.model, defence, work)] = models
        ready, _ = ray.wait(list(pending), num_returns=1, timeout=_POLL)
        for reference in ready:
            models = pending.pop(reference)
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError as error:
                stacks = cut_into_stacks(models, stack)
                if len(stacks) > 1:  # one of them ended the worker: find out which
                    waiting.extend(stacks)
                else:
                    yield ShardResult([], dict.fromkeys(models, _cause(error, cluster)))
        if not ready:
            workers = _num_workers(cluster)
            if not workers:
                progress.note(_waiting(cluster))


def _work(plan: Plan, models: range, device: str) -> ShardWork:
    rows = slice(models.start, models.stop)
    return ShardWork(models, plan.members[rows], plan.seeds[rows], plan.num_train, device)


def _task_options(cluster: Cluster) -> dict[str, Any]:
    return {
        "num_cpus": 1,
        "num_gpus": min(1, cluster.num_gpus),
        "max_retries": cluster.max_retries,
    }


def _num_workers(cluster: Cluster) -> int:
    """Tasks that the cluster can run at once."""
    import ray

    resources = ray.cluster_resources()
    workers = resources.get("CPU", 0)
    if cluster.num_gpus > 0:
        workers = min(workers, resources.get("GPU", 0) / min(1, cluster.num_gpus))
    return int(workers)


def _waiting(cluster: Cluster) -> str:
    gpus = f" and {min(1, cluster.num_gpus):g} GPU" if cluster.num_gpus > 0 else ""
    return f"No node of the cluster offers 1 CPU{gpus} yet: waiting for one."


def _cause(error: Exception, cluster: Cluster) -> str:
    """One sentence on why a task gave no result."""
    import ray

    tries = f"tried {cluster.max_retries + 1} times"
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return f"its worker ran out of memory ({tries}): set fewer cluster.num_cpus"
    if isinstance(error, ray.exceptions.WorkerCrashedError):
        return f"its worker process died ({tries})"
    last = str(error).strip().splitlines()[-1:]
    return f"{type(error).__name__}: {last[0].strip() if last else 'no message'}"


def _import_modules(names: Sequence[str]) -> None:
    for name in names:
        importlib.import_module(name)


@contextmanager
def _own_signal_handlers() -> Iterator[None]:
    """Keep the caller's handlers: ray.init sets one that ends the process at SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
