"""What a sweep trains: membership rows, seeds and the key under which the scores are kept.

A plan is a pure function of the settings. Its key is a hash of everything that changes a model's
numbers and of nothing else, so raising the number of models trains only the new ones, and a
changed data file, seed or number of epochs can never reuse stale scores.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mia_audit.stats.design import draw_members, model_seeds

if TYPE_CHECKING:
    from mia_audit.data.dataset import Dataset
    from mia_audit.models.outputs import Outputs

# Raise it whenever training, encoding or scoring code changes a model's numbers.
SCORES_VERSION = 1

MOST_SCORES = 20_000_000_000  # 80 GB of float32


class Model(Protocol):
    """A kind of classifier: a plain dataclass whose fields are its hyper-parameters."""

    @property
    def name(self) -> str: ...
    def stack(self, device: str) -> int: ...
    def supports(self, dataset: Dataset) -> None: ...


class Defence(Protocol):
    """A way to train a model privately: a plain dataclass whose fields are its settings."""

    @property
    def name(self) -> str: ...
    def supports(self, model: Any, dataset: Dataset) -> None: ...
    def train(
        self,
        model: Any,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str,
        slots: np.ndarray | None,
    ) -> Outputs: ...


@dataclass(frozen=True, eq=False)
class Plan:
    """Models to train: `members` bool [M, N], `seeds` int64 [M]; `key` is 16 hex digits."""

    dataset: Dataset
    model: Model
    defence: Defence
    members: np.ndarray
    seeds: np.ndarray
    num_train: int
    key: str
    description: dict[str, Any]  # JSON-able: all that went into the key

    @property
    def num_models(self) -> int:
        return self.members.shape[0]

    def ready_defence(self) -> Defence:
        """The defence as workers get it: what takes seconds to find is found once, here.

        A defence with something to find has a method `prepared(model, num_train)` that returns
        such a copy of itself. Key and claim remain those of the settings.
        """
        if hasattr(self.defence, "prepared"):
            return self.defence.prepared(self.model, self.num_train)
        return self.defence


def plan_sweep(
    dataset: Dataset,
    model: Model,
    defence: Defence,
    *,
    num_models: int,
    design: str = "bernoulli",
    fraction: float = 0.5,
    seed: int = 0,
) -> Plan:
    """Fix the training sets and seeds of `num_models` models on a pool of N records.

    `fraction` is the share of the pool in each training set, `design` one of bernoulli, balanced,
    fixed_size. Raises ValueError for impossible numbers, and when model, defence and data do not
    fit together: always before any work is done.
    """
    design = str(plain(design))
    num_records = len(dataset.y)
    _check_numbers(num_models, num_records, fraction)
    model.supports(dataset)
    defence.supports(model, dataset)
    members = draw_members(num_models, num_records, design=design, fraction=fraction, seed=seed)
    _check_training_sets(members, num_records)
    num_train = math.floor(fraction * num_records + 0.5)  # the size under design fixed_size
    if hasattr(model, "check_sizes"):
        model.check_sizes(members.sum(axis=1), num_train=num_train)
    description = {
        "data": dataset.digest,
        "num_records": num_records,
        "design": design,
        "fraction": plain(fraction),
        "seed": plain(seed),
        "model": describe(model),
        "defence": describe(defence),
        "scores_version": SCORES_VERSION,
    }
    if design == "balanced":  # the only design in which a row depends on how many there are
        description["num_models"] = num_models
    return Plan(
        dataset=dataset,
        model=model,
        defence=defence,
        members=members,
        seeds=model_seeds(num_models, seed=seed),
        num_train=num_train,
        key=sweep_key(description),
        description=description,
    )


def with_other_seeds(plan: Plan, num_models: int) -> Plan:
    """The first `num_models` training sets of a plan, to be trained again from other seeds."""
    assert num_models <= plan.num_models
    description = plan.description | {"repeat": 1}
    return replace(
        plan,
        members=plan.members[:num_models],
        seeds=model_seeds(num_models, seed=plan.description["seed"], repeat=1),
        key=sweep_key(description),
        description=description,
    )


def sweep_key(description: Mapping[str, Any]) -> str:
    """16 hex digits of the sha256 of the description's canonical JSON."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe(noun: Any) -> dict[str, Any]:
    """Name and settings of a model or a defence as JSON values.

    A noun whose numbers depend on more than its fields (the content of a checkpoint file, say)
    adds them through a method `fingerprint() -> dict`.
    """
    extra = noun.fingerprint() if hasattr(noun, "fingerprint") else {}
    return plain({"name": noun.name, **asdict(noun), **extra})


def plain(value: Any) -> Any:
    """JSON values with one spelling each: Enums by value, tuples as lists, 1.0 as 1."""
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"A setting is {value!r}: use numbers, text, lists or dictionaries of them.")


def _check_numbers(num_models: int, num_records: int, fraction: float) -> None:
    if num_models < 4:
        raise ValueError(
            f"num_models={num_models}: at least 4 are needed, so that each record can have two "
            "models trained with it and two without; take 64 or more for useful numbers."
        )
    if not 0 < fraction < 1:
        raise ValueError(
            f"fraction={fraction:g}: the share of records in each training set must lie between "
            "0 and 1, both excluded; 0.5 is usual."
        )
    if num_models * num_records > MOST_SCORES:
        raise ValueError(
            f"num_models={num_models:,}: with {num_records:,} records that is more than "
            f"{MOST_SCORES:,} scores; take fewer models or a smaller num_records."
        )
    if num_records < 2:
        raise ValueError(f"num_records={num_records}: an audit needs a pool of 2 records or more.")


def _check_training_sets(members: np.ndarray, num_records: int) -> None:
    sizes = members.sum(axis=1)
    for word, bad in (("no record", sizes == 0), ("every record", sizes == num_records)):
        if bad.any():
            raise ValueError(
                f"num_records={num_records}: model {int(bad.argmax())} would be trained on {word} "
                "of the pool; use a larger pool or a fraction nearer to 0.5."
            )
