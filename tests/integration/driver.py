"""A driver of its own process for the tests of killing and resuming: `driver.py STORE EPOCHS`."""

import sys

from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import Plan, plan_sweep
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.sweep import run_sweep
from tests.integration.stand_ins import blobs


def make_plan(epochs: int) -> Plan:
    model = MLP(hidden=[8], epochs=epochs, batch=8)
    return plan_sweep(blobs(80), model, NoDefence(), num_models=128, seed=1)


if __name__ == "__main__":
    run_sweep(
        make_plan(int(sys.argv[2])),
        Store(sys.argv[1]),
        cluster=Cluster(num_cpus=2),
        progress=Progress(Console()),
    )
