"""What takes a defence seconds to find is found once, and changes neither key nor numbers."""

import numpy as np
import pytest

from mia_audit.defences import dpsgd
from mia_audit.defences.dpsgd import DPSGD, Accountant
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import plan_sweep
from tests.models.tables import gaussian_table

pytest.importorskip("opacus")

DATA = gaussian_table(200, 4, 2)
SMALL = MLP(hidden=[4], epochs=1, batch=16)


def test_workers_of_dpsgd_do_not_search_for_its_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    defence = DPSGD(epsilon=3.0, accountant=Accountant.rdp)
    plan = plan_sweep(DATA, SMALL, defence, num_models=4)
    searched = defence.train(SMALL, DATA, plan.members, plan.seeds, num_train=plan.num_train)
    ready = plan.ready_defence()
    assert plan.defence is defence
    assert plan.description["defence"]["noise_multiplier"] is None

    def refuse(*args: object, **settings: object) -> float:
        raise AssertionError("searched again")

    monkeypatch.setattr(dpsgd, "noise_needed", refuse)
    found = ready.train(
        SMALL,
        DATA,
        plan.members,
        plan.seeds,
        num_train=plan.num_train,
        device="cpu",
        slots=np.arange(4),
    )
    np.testing.assert_array_equal(found.values, searched.values)
    assert isinstance(ready, DPSGD)
    assert ready.claimed_epsilon(SMALL, num_train=plan.num_train) == 3.0


def test_a_defence_with_nothing_to_find_goes_as_it_is() -> None:
    defence = NoDefence()
    assert plan_sweep(DATA, SMALL, defence, num_models=4).ready_defence() is defence
