"""From a prepared plan to a complete score matrix: say what will be done, do it, load it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mia_audit import tracking
from mia_audit.forecast import forecast
from mia_audit.nodes import check_shared, connect
from mia_audit.plan import Plan
from mia_audit.preparation import Prepared
from mia_audit.progress import Progress, named_models
from mia_audit.schema import AuditConfig
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.store import Store
from mia_audit.sweep import Cluster, run_sweep


def describe_plan(prepared: Prepared, cluster: Cluster, console: Console) -> None:
    """Print what the data were understood to be, what is left to train, and in what shards."""
    plan, store = prepared.plan, prepared.store
    left = store.missing(plan)
    missing = len(left)
    first, *notes = plan.dataset.summary()
    todo = (
        f"{plan.num_models:,} models of kind {plan.model.name}, defence {plan.defence.name}: "
        f"{plan.num_models - missing:,} in the store, {missing:,} to train (key {plan.key})"
    )
    console.print(Text(first))
    for note in notes:
        console.print(Padding(Text(note), (0, 0, 0, 2)))
    console.print(Text(todo))
    if left:
        console.print(Padding(Text(forecast(plan, store, left, cluster)), (0, 0, 0, 2)))
    for further in prepared.noise_plans:
        missing = len(prepared.store.missing(further))
        held = further.num_models - missing
        line = f"{further.num_models:,} more for the share of training noise: {held:,} in the store"
        console.print(Text(f"{line}, {missing:,} to train (key {further.key})"))


def start_all(prepared: Sequence[Prepared], config: AuditConfig) -> tracking.Ready:
    """Ray, which starts only if a model is missing, and the tracking address, side by side: both
    are slow. ValueError when runs cannot be kept there, or Ray's nodes do not share the store."""
    with ThreadPoolExecutor(1) as background:
        tracked = background.submit(tracking.prepare, config.tracking)
        for one in prepared:
            start_workers(one, config.cluster)
        return tracked.result()


def start_workers(prepared: Prepared, cluster: Cluster) -> None:
    """Start Ray, unless there is nothing to train. ValueError: its nodes do not share the store.

    To be called from the main thread: Ray's processes end with the thread that started them.
    """
    store = prepared.store
    if any(store.missing(plan) for plan in (prepared.plan, *prepared.noise_plans)):
        connect(cluster, modules=(type(prepared.plan.model).__module__, "torch"))
        check_shared(store.folder, store.label)


def train_missing(prepared: Prepared, cluster: Cluster, progress: Progress) -> ScoreMatrix:
    """Train what the store lacks and load all of it; models that failed are named and missing.

    A shard found damaged on loading counts as missing and is trained once more.
    """
    plan, store = prepared.plan, prepared.store
    matrix = None
    if not store.missing(plan):
        matrix = store.load(plan)
    if matrix is None or matrix.missing:
        run_sweep(plan, store, cluster=cluster, progress=progress)
        matrix = store.load(plan)
    if matrix.missing:
        told = _incomplete(plan, store, matrix.missing)
        progress.console.print(told, markup=False, highlight=False)
    return matrix


def train_noise(
    prepared: Prepared, cluster: Cluster, progress: Progress
) -> tuple[ScoreMatrix, ...]:
    """The same for the further models that measure the share of training noise."""
    return tuple(
        train_missing(replace(prepared, plan=plan), cluster, progress)
        for plan in prepared.noise_plans
    )


def _incomplete(plan: Plan, store: Store, missing: tuple[int, ...]) -> str:
    return (
        f"{named_models(list(missing))} of {plan.num_models} could not be trained (causes above),"
        f" so no audit was made; the others are in {store.label}. "
        "Run the same command to try again."
    )
