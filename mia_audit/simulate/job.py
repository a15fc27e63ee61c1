"""The job, in order: check, simulate and print one by one, log one MLflow run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from mia_audit import tracking
from mia_audit.schema import Composed
from mia_audit.simulate import finite_population, ptdi_ablation, toy
from mia_audit.simulate.checks import Outcome
from mia_audit.simulate.finite_population import draw_ratios
from mia_audit.simulate.printed import print_outcome, print_summary, summary
from mia_audit.simulate.ptdi_figure import draw_ablation
from mia_audit.simulate.settings import SimulateConfig, Simulation, check_settings
from mia_audit.simulate.toy_figure import draw_methods

DONE, DIFFERS = 0, 1


def run_simulate(composed: Composed[SimulateConfig]) -> int:
    """`conf/simulate.yaml` says what its keys are.  Returns 0 when everything came out as
    expected, 1 otherwise.

    Raises ValueError for the user's mistakes, before anything is simulated.
    """
    console, config = Console(), composed.settings
    check_settings(config)
    outcomes = {}
    with ThreadPoolExecutor(1) as background:  # creating the database takes seconds
        tracked = background.submit(tracking.prepare, config.tracking)
        for simulation in config.wanted():
            console.print(Text(f"Simulating {simulation.value} …", style="dim"))
            outcomes[simulation] = simulate(simulation, config)
            print_outcome(console, outcomes[simulation])
        tracked.result()
    link = log_outcomes(outcomes, composed)
    where = f"{link.url} (start '{link.command}' first)" if link.command else link.url
    print_summary(console, list(outcomes.values()), where)
    return DONE if all(outcome.passed for outcome in outcomes.values()) else DIFFERS


def simulate(simulation: Simulation, config: SimulateConfig) -> Outcome:
    """Run one simulation and draw it."""
    match simulation:
        case Simulation.finite_population:
            return simulate_finite_population(config)
        case Simulation.toy:
            return simulate_toy(config)
        case Simulation.ptdi_ablation:
            return simulate_ptdi_ablation(config)
    raise AssertionError(simulation)


def simulate_finite_population(config: SimulateConfig) -> Outcome:
    """Spread of models trained on one pool, and vulnerability for the population."""
    settings = config.finite_population
    ratios = finite_population.simulate_ratios(settings, config.seed)
    plug_in = finite_population.simulate_plug_in(settings, config.seed)
    return Outcome(
        "Finite population: models trained on one pool vary too little",
        f"{settings.repeats} repeats of {settings.num_models:,} models, each the mean of about"
        f" {settings.num_train:,} of {settings.num_pool:,} records.",
        finite_population.checks(ratios, plug_in),
        figures={"finite_population": draw_ratios(ratios)},
    )


def simulate_toy(config: SimulateConfig) -> Outcome:
    """Rates at the true cut-off, and of every rule against the number of models."""
    settings = config.toy
    formula = toy.simulate_formula(settings, config.seed)
    methods = toy.simulate_methods(settings, config.seed)
    return Outcome(
        "Affine toy: log-likelihood ratios with a known TPR",
        f"{settings.repeats} repeats; the rules on up to {settings.num_models:,} models and"
        f" {settings.num_records:,} records of dimension {settings.dimension:,}.",
        toy.checks(formula, methods),
        tables={"toy_methods": [asdict(rate) for rate in methods.rates]},
        figures={"toy_methods": draw_methods(methods)},
    )


def simulate_ptdi_ablation(config: SimulateConfig) -> Outcome:
    """Realised false-discovery rate and power of every share estimator."""
    settings = config.ptdi_ablation
    rows = ptdi_ablation.simulate_ablation(settings, config.seed)
    return Outcome(
        "PTDI: false discoveries under every share estimator",
        f"{settings.repeats:,} repeats with {settings.num_candidates:,} candidates; of ten sizes"
        " of the calibration set the one with the most false discoveries is shown.",
        ptdi_ablation.checks(settings, rows),
        tables={"ptdi_ablation_grid": ptdi_ablation.table(rows)},
        figures={"ptdi_ablation": draw_ablation(rows, settings.alpha)},
    )


def log_outcomes(
    outcomes: dict[Simulation, Outcome], composed: Composed[SimulateConfig]
) -> tracking.RunLink:
    """One run, kind=simulate: checks and tables as json, figures as png."""
    config = composed.settings
    files: dict[str, Path | bytes | str] = {"config.yaml": composed.yaml}
    tables: dict[str, Sequence[dict[str, object]]] = {}
    for simulation, outcome in outcomes.items():
        tables[f"{simulation.value}.json"] = [check.row() for check in outcome.checks]
        tables |= {f"{name}.json": rows for name, rows in outcome.tables.items()}
        files |= {f"figures/{name}.png": picture for name, picture in outcome.figures.items()}
    return tracking.log_run(
        config.tracking,
        name=f"simulate {config.simulation.value}",
        params=composed.values,
        metrics=metrics(outcomes),
        tags={
            "kind": "simulate",
            "mlflow.note.content": summary(list(outcomes.values())),
            **tracking.environment(),
        },
        tables=tables,
        files=files,
        started=composed.started,
    )


def metrics(outcomes: dict[Simulation, Outcome]) -> dict[str, float]:
    """Every observed quantity, and how many failed."""
    found = {}
    failed = 0
    for simulation, outcome in outcomes.items():
        for check in outcome.checks:
            found[f"{simulation.value}/{_metric_name(check.quantity)}"] = check.observed
            failed += not check.verdict.passed
    return {**found, "num_failed": float(failed)}


def _metric_name(quantity: str) -> str:
    """MLflow takes letters, digits, blanks and -_./ in a name: 'η=0.05' becomes 'eta 0.05'."""
    plain = quantity
    for sign, word in (("σ", "sigma"), ("η", "eta"), ("π", "pi"), ("%", " percent"), ("=", " ")):
        plain = plain.replace(sign, word)
    return re.sub(r"\s+", "_", re.sub(r"[^\w\s.-]", "", plain).strip())
