"""A driver of its own process for the tests of killing and resuming: `driver.py STORE PLAN`.

PLAN is a number of epochs of a small perceptron, or `quick`: numbers drawn from each model's seed,
with a little sleep, so that a round of faults costs the machine next to nothing.
"""

import sys

from rich.console import Console

from mia_audit.cluster import Cluster
from mia_audit.defences.none import NoDefence
from mia_audit.faults import OutsideError
from mia_audit.interruption import INTERRUPTED, TERMINATED, Terminated, terminable
from mia_audit.models.mlp import MLP
from mia_audit.plan import Plan, plan_sweep
from mia_audit.progress import Progress
from mia_audit.store import Store
from mia_audit.sweep import run_sweep
from tests.integration.stand_ins import Slow, blobs

QUICK = "quick"


def make_plan(work: int | str) -> Plan:
    if work == QUICK:
        model = Slow(width=4, seconds=0.05)
        return plan_sweep(blobs(80), model, NoDefence(), num_models=128, seed=1)
    mlp = MLP(hidden=[8], epochs=int(work), batch=8)
    return plan_sweep(blobs(80), mlp, NoDefence(), num_models=128, seed=1)


def drive(store: str, work: str) -> int:
    """Exit status of a run: that of a job which would print the same fault or interruption."""
    cluster = Cluster(num_cpus=2, models_per_shard=8)
    with terminable():
        try:
            report = run_sweep(
                make_plan(work), Store(store), cluster=cluster, progress=Progress(Console())
            )
        except OutsideError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return INTERRUPTED
        except Terminated:
            return TERMINATED
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(drive(*sys.argv[1:]))
