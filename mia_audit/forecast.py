"""What a sweep will be before it starts: shards, workers, and time where any model tells of it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from mia_audit.cluster import Cluster
from mia_audit.nodes import shards_at_once
from mia_audit.plan import Plan
from mia_audit.progress import duration
from mia_audit.sharding import cut_into_shards
from mia_audit.store import Store


def forecast(plan: Plan, store: Store, missing: Sequence[int], cluster: Cluster) -> str:
    """One phrase on the training of the missing models, from settings and names of shards.

    How long a model takes is read off one that the store holds. A cluster's workers are not known
    before it is joined.
    """
    seconds = store.seconds_a_model(plan)
    if not cluster.is_local:
        took = "" if seconds is None else f", {duration(seconds * len(missing))} on one worker"
        return f"in shards for the workers of the cluster{took}"
    cpus = cluster.num_cpus or os.cpu_count() or 1
    node = {"CPU": float(cpus), "GPU": float(math.ceil(cluster.num_gpus))}
    workers = max(1, shards_at_once([node], cluster))
    shards = cut_into_shards(
        missing,
        stack=plan.model.stack(cluster.device),
        workers=workers,
        models_per_shard=cluster.models_per_shard,
    )
    busy = min(workers, len(shards))
    cut = f"in {_number(len(shards), 'shard')} on {_number(busy, 'worker')}"
    if seconds is None:
        return f"{cut}; the first to end tells how long"
    rest = f"about {duration(seconds * len(missing) / busy)}, as long as models of it took before"
    return f"{cut}: {rest}"


def _number(count: int, name: str) -> str:
    return f"{count:,} {name}{'s' if count > 1 else ''}"
