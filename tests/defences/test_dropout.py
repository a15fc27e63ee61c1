"""Dropout: the drawn units are silent in both directions, and all speak in predictions."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.dropout import Dropout
from mia_audit.models.mlp import MLP
from tests.defences.small import Moment, entropy_loss, make_small, plain_logits, small_data


def test_equals_autograd_through_the_same_masks() -> None:
    small = make_small(hidden=[8, 6, 5])
    recipe = Dropout(0.4).recipe(small.stack)
    draws = [list(recipe.draw_epoch(e, 3)) for e in range(small.config.epochs)]

    def ask(model: nn.Sequential, x: torch.Tensor, moment: Moment) -> torch.Tensor:
        for layer, factors in enumerate(draws[moment.epoch][moment.step]):
            own = factors[moment.slot][moment.real]
            x = model[2 * layer + 1](model[2 * layer](x)) * own
        return model[-1](x)

    expected = small.train_naively(entropy_loss, ask)
    small.train(Dropout(0.4).recipe)
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_units_are_silent_at_the_rate_and_the_rest_makes_up_for_them() -> None:
    small = make_small(hidden=[30, 20])
    drawn = list(Dropout(0.25).recipe(small.stack).draw_epoch(0, 50))
    assert [factors.shape[-1] for factors in drawn[0]] == [30, 20]
    factors = torch.cat([part.flatten() for step in drawn for part in step])
    assert set(factors.tolist()) == {0.0, 1 / 0.75}
    share = float((factors == 0).double().mean())
    assert abs(share - 0.25) < 4 * math.sqrt(0.25 * 0.75 / len(factors))
    assert len({part.numpy().tobytes() for step in drawn for part in step}) == 100, "drawn anew"


def test_rate_zero_is_plain_training() -> None:
    small = make_small()
    small.train(Dropout(0.0).recipe)
    np.testing.assert_array_equal(small.logits(), plain_logits())


def test_refuses_rates_and_networks_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match=r"defence.rate is 1.0: it must be in \[0, 1\)"):
        Dropout(1.0).supports(MLP(), small_data())
    with pytest.raises(ValueError, match=r"model.hidden is empty"):
        Dropout(0.5).supports(MLP(hidden=[]), small_data())
