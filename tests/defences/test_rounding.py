"""Rounding: few released values, none of them certain, and the true ones at full precision."""

import numpy as np
import pytest

from mia_audit.defences.rounding import Rounding
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits, Probabilities
from tests.models.tables import gaussian_table

SHARES = Probabilities(np.random.default_rng(0).dirichlet(np.ones(3), (2, 500)))
SEEDS = np.arange(2)


def test_releases_the_rounded_values_and_nothing_beyond_them() -> None:
    released = Rounding(1).release(SHARES, SEEDS).values
    assert np.abs(released - SHARES.values).max() <= 0.05 + 1e-12
    assert set(np.unique(released.round(6))) <= {0.025, 0.975, *np.arange(1, 10) / 10}


def test_a_certain_value_is_scored_as_what_it_can_be() -> None:
    sure = Logits(np.array([[[30.0, 0.0], [-30.0, 0.0]]]))
    phi = Rounding(2).release(sure, SEEDS[:1]).confidence(np.array([0, 0]))
    np.testing.assert_allclose(phi[0], np.log(0.9975 / 0.0025) * np.array([1, -1]), rtol=1e-6)


def test_all_decimals_release_what_the_model_says() -> None:
    labels = np.random.default_rng(1).integers(0, 3, 500)
    released = Rounding(15).release(SHARES, SEEDS)
    np.testing.assert_allclose(released.values, SHARES.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(released.confidence(labels), SHARES.confidence(labels), rtol=1e-6)


@pytest.mark.parametrize("decimals", [0, 16])
def test_refuses_decimals_that_make_no_sense(decimals: int) -> None:
    with pytest.raises(ValueError, match=r"defence.decimals is .*: it must be from 1 to 15"):
        Rounding(decimals).supports(MLP(), gaussian_table(20, 2, 2))
