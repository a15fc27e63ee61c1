"""Train what the store lacks: one Ray task a shard of models, results written by the driver.

Workers only compute, so that a store's credentials stay with the driver. The unit of loss is a
shard: whatever ends a sweep, the next run goes on from the shards in the store.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mia_audit.cluster import Cluster
from mia_audit.nodes import check_shared, connect, disconnect, num_workers, task_options
from mia_audit.plan import Plan
from mia_audit.progress import Progress
from mia_audit.shard_queue import ShardQueue
from mia_audit.sharding import cut_into_shards
from mia_audit.store import Store
from mia_audit.train_shard import ShardResult, ShardWork, train_shard

_POLL = 5.0  # seconds between looks at the size of the cluster


@dataclass(frozen=True)
class SweepReport:
    """What a sweep did: counts of models, a cause for each model that failed, wall seconds."""

    trained: int
    reused: int
    failed: dict[int, str]
    seconds: float
    devices: tuple[str, ...]


def run_sweep(plan: Plan, store: Store, *, cluster: Cluster, progress: Progress) -> SweepReport:
    """Train every model of the plan that the store does not hold whole.

    Models that fail are in the report and the rest goes on; the next run tries them again. Any
    exception, an interrupt included, ends Ray and leaves the finished shards in the store.
    """
    began = time.perf_counter()
    store.record(plan)
    busy = f"Another run trains the sweep {plan.key}: waiting for it to end."
    with store.sole_driver(plan, busy=lambda: progress.note(busy)):
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
        check_shared(store.folder, store.label)
        for result in _results(plan, missing, cluster, progress):
            for shard in result.shards:
                store.write(plan, shard)
                progress.log.trained(plan.key, shard)
                progress.advance(len(wanted.intersection(shard.models)))
            causes = {model: why for model, why in result.failed.items() if model in wanted}
            progress.fail(causes)
            progress.log.failed(plan.key, causes)
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

    workers, looked = max(1, num_workers(cluster)), time.monotonic()
    stack = plan.model.stack(cluster.device)
    shards = cut_into_shards(
        missing, stack=stack, workers=workers, models_per_shard=cluster.models_per_shard
    )
    queue = ShardQueue(shards, stack=stack)
    task = ray.remote(**task_options(cluster))(train_shard)
    dataset, defence = ray.put(plan.dataset), plan.ready_defence()
    pending: dict[Any, range] = {}
    while queue or pending:
        while models := queue.next(running=len(pending), most=workers + cluster.max_pending):
            work = _work(plan, models, cluster.device)
            pending[task.remote(dataset, plan.model, defence, work)] = models
            progress.log.submitted(models)
        ready, _ = ray.wait(list(pending), num_returns=1, timeout=_POLL)
        for reference in ready:
            yield _settled(reference, pending.pop(reference), queue, cluster, progress)
        if time.monotonic() - looked > _POLL:  # nodes come and go
            workers, looked = num_workers(cluster), time.monotonic()
            if not workers:
                progress.note(_waiting(cluster))


def _settled(
    reference: Any, models: range, queue: ShardQueue, cluster: Cluster, progress: Progress
) -> ShardResult:
    """What a finished task brought; models that are worth another try go back into the queue."""
    import ray

    try:
        result = ray.get(reference)
    except ray.exceptions.OutOfMemoryError as error:
        result = ShardResult([], dict.fromkeys(models, _cause(error, cluster)), (models,))
    except ray.exceptions.RayError as error:
        again = queue.crashed(models)  # one of its stacks is to blame: find out which
        return ShardResult([], {} if again else dict.fromkeys(models, _cause(error, cluster)))
    failed = dict(result.failed)
    for exhausted in result.exhausted:
        if queue.exhausted(exhausted):
            progress.note("A shard ran out of memory: it is tried again with less beside it.")
            failed = {model: why for model, why in failed.items() if model not in exhausted}
    return ShardResult(result.shards, failed)


def _work(plan: Plan, models: range, device: str) -> ShardWork:
    rows = slice(models.start, models.stop)
    return ShardWork(models, plan.members[rows], plan.seeds[rows], plan.num_train, device)


def _waiting(cluster: Cluster) -> str:
    wanted = f"{cluster.cpus_per_shard:g} CPU"
    if cluster.gpu_share:
        wanted += f" and {cluster.gpu_share:g} GPU"
    return f"No node of the cluster offers {wanted} yet: waiting for one."


def _cause(error: Exception, cluster: Cluster) -> str:
    """One sentence on why a task gave no result."""
    import ray

    tries = f"tried {cluster.max_retries + 1} times"
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return "its worker ran out of memory, alone too: use a machine with more"
    if isinstance(error, ray.exceptions.WorkerCrashedError):
        return f"its worker process died ({tries})"
    last = str(error).strip().splitlines()[-1:]
    return f"{type(error).__name__}: {last[0].strip() if last else 'no message'}"
