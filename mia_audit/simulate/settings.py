"""What `jobs.simulate` can be told: which simulation, how large and how often."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import Enum

from mia_audit.tracking import Tracking

FEWEST_REPEATS = 5  # with fewer the error of a mean is itself unknown
FEWEST_MODELS = 16
MOST_REPEATS, LARGEST = 1_000_000, 1_000_000_000  # numbers in a matrix


class Simulation(Enum):
    """Which of the simulations to run."""

    finite_population = "finite_population"
    toy = "toy"
    ptdi_ablation = "ptdi_ablation"
    all = "all"


@dataclass
class FinitePopulation:
    """Gaussian means: models that average `num_train` of `num_pool` vectors (methods of
    arXiv 2605.25819)."""

    repeats: int = 16
    num_models: int = 2048
    num_pool: int = 1000
    num_train: int = 500
    dimension: int = 500

    def faults(self) -> Iterator[str]:
        if self.num_models < FEWEST_MODELS:
            yield f"num_models={self.num_models}: at least {FEWEST_MODELS} are needed."
        if not 2 <= self.num_train <= self.num_pool - 2:
            yield (
                f"num_train={self.num_train}: must lie between 2 and num_pool - 2"
                f" ({self.num_pool - 2})."
            )
        if self.dimension < 1:
            yield f"dimension={self.dimension}: must be at least 1."


@dataclass
class Toy:
    """Log-likelihood ratios that are exactly normal, so that every record's TPR is known."""

    repeats: int = 16
    num_models: int = 1024
    num_records: int = 200
    dimension: int = 2500

    def faults(self) -> Iterator[str]:
        if self.num_models < FEWEST_MODELS:
            yield f"num_models={self.num_models}: at least {FEWEST_MODELS} are needed."
        for key in ("num_records", "dimension"):
            if getattr(self, key) < 1:
                yield f"{key}={getattr(self, key)}: must be at least 1."


@dataclass
class PTDIAblation:
    """Normal scores, members shifted upwards: which share estimator keeps its promise, and finds
    how much."""

    repeats: int = 1000
    num_candidates: int = 500
    alpha: float = 0.1
    shift: float = 2.0

    def faults(self) -> Iterator[str]:
        if self.num_candidates < 20:
            yield f"num_candidates={self.num_candidates}: at least 20 are needed."
        if not 0 < self.alpha < 1:
            yield f"alpha={self.alpha:g}: must lie strictly between 0 and 1."
        if not math.isfinite(self.shift):
            yield f"shift={self.shift}: must be finite."


@dataclass
class SimulateConfig:
    """The whole configuration; `conf/simulate.yaml` says what each key is."""

    simulation: Simulation = Simulation.all
    seed: int = 0
    finite_population: FinitePopulation = field(default_factory=FinitePopulation)
    toy: Toy = field(default_factory=Toy)
    ptdi_ablation: PTDIAblation = field(default_factory=PTDIAblation)
    tracking: Tracking = field(default_factory=Tracking)

    def wanted(self) -> list[Simulation]:
        if self.simulation is not Simulation.all:
            return [self.simulation]
        return [choice for choice in Simulation if choice is not Simulation.all]


def check_settings(config: SimulateConfig) -> None:
    """Raises ValueError with one sentence that names the key, before anything is simulated."""
    if config.seed < 0:
        raise ValueError(f"seed={config.seed}: must be 0 or more.")
    for simulation in config.wanted():
        settings = getattr(config, simulation.value)
        if settings.repeats < FEWEST_REPEATS:
            raise ValueError(
                f"{simulation.value}.repeats={settings.repeats}: at least {FEWEST_REPEATS} are"
                " needed to know the error of a mean."
            )
        for fault in settings.faults():
            raise ValueError(f"{simulation.value}.{fault}")
        _check_size(simulation.value, settings)


def _check_size(name: str, settings: FinitePopulation | Toy | PTDIAblation) -> None:
    """What no memory holds is refused before it is asked for."""
    if settings.repeats > MOST_REPEATS:
        raise ValueError(f"{name}.repeats={settings.repeats}: at most {MOST_REPEATS:,}.")
    sizes = {key: value for key, value in asdict(settings).items() if isinstance(value, int)}
    del sizes["repeats"]
    largest = max(sizes, key=lambda key: sizes[key])
    if math.prod(sorted(sizes.values())[-2:]) > LARGEST:
        raise ValueError(
            f"{name}.{largest}={sizes[largest]}: too large to be held in memory; give less."
        )
