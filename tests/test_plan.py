"""The key changes with everything that changes numbers, and with nothing else."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import pytest

from mia_audit.defences.none import NoDefence
from mia_audit.plan import SCORES_VERSION, Plan, describe, plain, plan_sweep, sweep_key
from mia_audit.stats.design import draw_members, model_seeds
from tests.integration.stand_ins import Noise, blobs


@dataclass
class Quiet(NoDefence):
    """Another defence with a setting."""

    level: float = 1.0

    @property
    def name(self) -> str:
        return "quiet"


@dataclass
class Checkpointed(Noise):
    """A model that depends on the content of a file."""

    content: bytes = b""

    def fingerprint(self) -> dict[str, str]:
        return {"content": self.content.hex()}


def plan(model: Any = None, defence: Any = None, data: Any = None, **settings: Any) -> Plan:
    settings = {"num_models": 8} | settings
    return plan_sweep(data or blobs(), model or Noise(), defence or NoDefence(), **settings)


def test_rows_and_seeds_are_those_of_the_design() -> None:
    wanted = plan(seed=5, fraction=0.3)
    np.testing.assert_array_equal(wanted.members, draw_members(8, 40, fraction=0.3, seed=5))
    np.testing.assert_array_equal(wanted.seeds, model_seeds(8, seed=5))
    assert wanted.num_train == 12
    assert wanted.num_models == 8


@pytest.mark.parametrize(("num_records", "fraction"), [(41, 0.5), (45, 0.3), (7, 0.5)])
def test_num_train_is_the_size_of_fixed_size_sets(num_records: int, fraction: float) -> None:
    wanted = plan(data=blobs(num_records), design="fixed_size", fraction=fraction)
    assert set(wanted.members.sum(axis=1)) == {wanted.num_train}


def test_the_same_settings_have_the_same_key() -> None:
    assert plan().key == plan().key
    assert len(plan().key) == 16
    assert plan().key == sweep_key(plan().description)


def test_all_that_changes_numbers_changes_the_key() -> None:
    data = blobs()
    moved = replace(data, X=data.X + np.float32(1e-3))
    keys = [
        plan().key,
        plan(seed=1).key,
        plan(fraction=0.4).key,
        plan(design="fixed_size").key,
        plan(design="balanced").key,
        plan(design="balanced", num_models=16).key,
        plan(model=Noise(shift=0.5)).key,
        plan(model=Checkpointed()).key,
        plan(model=Checkpointed(content=b"2")).key,
        plan(defence=Quiet()).key,
        plan(defence=Quiet(level=2)).key,
        plan(data=moved).key,
        plan(data=data.take(range(39))).key,
        sweep_key(plan().description | {"scores_version": SCORES_VERSION + 1}),
    ]
    assert len(set(keys)) == len(keys)


def test_more_models_and_another_file_name_keep_the_key() -> None:
    assert plan(num_models=64).key == plan().key
    assert plan(data=replace(blobs(), name="renamed")).key == plan().key


def test_one_number_has_one_spelling() -> None:
    assert plan(defence=Quiet(level=1)).key == plan(defence=Quiet(level=1.0)).key
    assert plan(defence=Quiet(level=np.float32(2.0))).key == plan(defence=Quiet(level=2)).key
    assert plain({"a": (1.0, True, None, 0.5)}) == {"a": [1, True, None, 0.5]}
    assert plain(Enum("Kind", {"adam": "adam"})["adam"]) == "adam"


def test_a_key_is_pinned() -> None:
    """A change here retrains every sweep there is: raise SCORES_VERSION instead."""
    description = {"data": "00ff", "num_records": 40, "fraction": 0.5, "model": {"name": "é"}}
    assert sweep_key(description) == "4032cd466747ea2e"


def test_settings_that_have_no_json_are_refused() -> None:
    with pytest.raises(ValueError, match=r"A setting is <object"):
        describe(Quiet(level=object()))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_models": 3}, r"num_models=3: at least 4 are needed, so that"),
        ({"num_models": 9, "design": "balanced"}, "even num_models"),
        ({"fraction": 0.0}, "fraction=0:"),
        ({"fraction": 1.0}, "fraction=1:"),
        ({"fraction": 0.001}, "model 0 would be trained on no record"),
        ({"fraction": 0.999}, "model 0 would be trained on every record"),
        ({"data": blobs(40).take([0])}, "num_records=1"),
        ({"design": "random"}, "bernoulli, balanced, fixed_size"),
    ],
)
def test_impossible_numbers_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan(**settings)


def test_the_fit_of_model_and_data_is_asked_first() -> None:
    three = replace(blobs(), class_names=("a", "b", "c"))
    with pytest.raises(ValueError, match="blobs has 3 classes: noise needs two"):
        plan(data=three)
