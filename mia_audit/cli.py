"""One entry a job: wiring only. Each takes a composed configuration and returns an exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mia_audit.entry import entry

if TYPE_CHECKING:
    from mia_audit.identify.settings import IdentifyConfig
    from mia_audit.schema import AuditConfig, CompareConfig, Composed
    from mia_audit.simulate.settings import SimulateConfig


@entry("audit")
def audit(composed: Composed[AuditConfig]) -> int:
    """Train what the store lacks, judge every model, log one MLflow run, write a report."""
    from mia_audit.job import run_audit

    return run_audit(composed)


@entry("train")
def train(composed: Composed[AuditConfig]) -> int:
    """Train what the store lacks, and nothing else."""
    from mia_audit.job import run_training

    return run_training(composed)


@entry("identify")
def identify(composed: Composed[IdentifyConfig]) -> int:
    """Select the records a model was trained on, from score files of any model."""
    from mia_audit.identify.job import run_identify

    return run_identify(composed)


@entry("simulate")
def simulate(composed: Composed[SimulateConfig]) -> int:
    """Repeat the papers' simulations: what was expected beside what came out."""
    from mia_audit.simulate.job import run_simulate

    return run_simulate(composed)


@entry("compare")
def compare(composed: Composed[CompareConfig]) -> int:
    """Audit several defences on one design: what each buys in privacy and costs."""
    from mia_audit.compare.job import run_compare

    return run_compare(composed)


def store() -> None:
    """Show the sweeps in a store, or delete one."""
    from mia_audit.store_command import run_store

    sys.exit(run_store(sys.argv[1:]))
