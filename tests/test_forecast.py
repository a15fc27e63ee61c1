"""What is said of a sweep before it starts is what it will be."""

from pathlib import Path

import numpy as np

from mia_audit.cluster import Cluster
from mia_audit.forecast import forecast
from mia_audit.shard import Shard
from mia_audit.store import Store
from tests.test_store import make_plan

PLAN = make_plan(num_models=64, num_records=12)


def hold(store: Store, models: range, seconds: float) -> None:
    members = PLAN.members[models.start : models.stop]
    accuracy = np.ones(len(models), dtype=np.float32)
    scores = np.zeros(members.shape, dtype=np.float32)
    store.write(PLAN, Shard(models.start, scores, members, accuracy, accuracy, seconds, "cpu"))


def test_shards_and_workers_are_those_of_the_sweep(tmp_path: Path) -> None:
    store, cluster = Store(str(tmp_path)), Cluster(num_cpus=2, models_per_shard=16)
    told = forecast(PLAN, store, range(64), cluster)
    assert told == "in 4 shards on 2 workers; the first to end tells how long"
    alone = Cluster(num_cpus=2, models_per_shard=64)
    assert forecast(PLAN, store, range(64), alone).startswith("in 1 shard on 1 worker;")


def test_time_is_that_of_the_models_held(tmp_path: Path) -> None:
    store, cluster = Store(str(tmp_path)), Cluster(num_cpus=2, models_per_shard=16)
    hold(store, range(16), seconds=32.0)
    missing = store.missing(PLAN)
    told = forecast(PLAN, store, missing, cluster)
    assert told == "in 3 shards on 2 workers: about 48 s, as long as models of it took before"
    elsewhere = Cluster(address="head:6379")
    told = forecast(PLAN, store, missing, elsewhere)
    assert told == "in shards for the workers of the cluster, 1 min 36 s on one worker"


def test_a_damaged_shard_tells_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    hold(store, range(16), seconds=32.0)
    (path,) = tmp_path.glob("*/shard-*")
    path.write_bytes(b"")
    assert store.seconds_a_model(PLAN) is None
