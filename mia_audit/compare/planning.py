"""From the named defences to sweeps that can start: one pool, one design, the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mia_audit.compare.entries import REFERENCE, Entry
from mia_audit.data import draw_pool
from mia_audit.plan import Plan, plan_sweep
from mia_audit.preparation import Prepared, audit_settings, check_selection_target
from mia_audit.schema import AuditConfig, CompareConfig, Composed
from mia_audit.store import Store


@dataclass(frozen=True, eq=False)
class Planned:
    """A defence whose sweep can start."""

    entry: Entry
    prepared: Prepared

    @property
    def label(self) -> str:
        return self.entry.label


def plan_comparison(composed: Composed[CompareConfig], entries: Sequence[Entry]) -> list[Planned]:
    """A sweep a defence: every check of the user's input passes before any work is done.

    All share the pool, the membership rows and the seeds, so that their differences are paired.
    Raises ValueError with one sentence naming the key for anything that cannot work.
    """
    config = composed.settings
    check_keys(composed)
    settings = audit_settings(config)
    check_selection_target(config, config.num_models)
    store = Store(config.store)
    store.check_writable()
    config.cluster.check()
    pool = draw_pool(
        config.dataset.load(),
        config.num_records,
        seed=config.seed,
        balanced=config.dataset.balanced,
    )
    planned = []
    for entry in entries:
        plan = plan_sweep(
            pool,
            config.model,
            entry.defence,
            num_models=config.num_models,
            design=config.design.value,
            fraction=config.fraction,
            seed=config.seed,
        )
        epsilon, delta = claim_of(entry.composed.settings, plan)
        own = replace(settings, claimed_epsilon=epsilon, claimed_delta=delta)
        planned.append(Planned(entry, Prepared(plan, store, None, own)))
    return planned


def check_keys(composed: Composed[CompareConfig]) -> None:
    """Raise ValueError for keys of an audit that mean nothing in a comparison."""
    for key in composed.given:
        if key == "defence" or key.startswith("defence."):
            raise ValueError(
                f"{key}: a comparison takes defences=[…]; write a defence with its settings as "
                f"defences=[{REFERENCE},{{dpsgd:{{epsilon:1}}}}]."
            )
    config = composed.settings
    for key, value in (
        ("scores", config.scores),
        ("target.scores", config.target.scores),
        ("target.members", config.target.members),
        ("population.noise", config.population.noise_source()),
    ):
        if value is not None:
            raise ValueError(
                f"{key}: is for jobs.audit; a comparison trains models or takes runs=."
            )


def claim_of(config: AuditConfig, plan: Plan) -> tuple[float | None, float]:
    """The ε that the defence claims, None without a claim, and the δ it is claimed at."""
    epsilon = config.defence.claimed_epsilon(config.model, num_train=plan.num_train)
    return epsilon, float(getattr(config.defence, "delta", 0.0))
