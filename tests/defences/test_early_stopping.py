"""Early stopping: each network ends at the epoch that its own held-out records liked best."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.early_stopping import BestEpoch, EarlyStopping
from mia_audit.models.mlp import MLP
from mia_audit.models.recipe import Recipe
from tests.defences.small import MEMBERS, SEEDS, SLOTS, make_small, plain_logits, small_data

FITTED, EXPECTED = EarlyStopping(0.3).fitted(MEMBERS, SEEDS, 45)
HELD_OUT = MEMBERS & ~FITTED
# Fits its 30 records without limit: somewhere on the way it was better.
OVERFITTING: dict[str, Any] = {"hidden": [40], "learning_rate": 0.02}


def held_out_losses(logits: np.ndarray, held_out: np.ndarray = HELD_OUT) -> list[float]:
    labels = torch.from_numpy(small_data().y)
    return [
        float(nn.functional.cross_entropy(torch.from_numpy(own)[rows], labels[rows]))
        for own, rows in zip(logits, held_out, strict=True)
    ]


def test_holds_out_its_share_of_the_training_set() -> None:
    members = np.random.default_rng(0).random((2, 20_000)) < 0.5
    fitted, expected = EarlyStopping(0.3).fitted(members, np.array([1, 2]), 10_000)
    assert not (fitted & ~members).any()
    share = fitted.sum(1) / members.sum(1)
    assert np.abs(share - 0.7).max() < 4 * np.sqrt(0.3 * 0.7 / 10_000)
    assert expected == 7000
    assert EarlyStopping(0.3).fitted(members[:1], np.array([1]), 100)[0].sum() == fitted[0].sum()


def test_restores_the_best_epoch_of_every_network() -> None:
    settings: dict[str, Any] = {"members": FITTED, "num_train": EXPECTED, **OVERFITTING}
    by_epoch = [plain_logits(epochs=epochs, **settings) for epochs in range(1, 13)]
    losses = np.array([held_out_losses(logits) for logits in by_epoch])
    best = losses.argmin(0)
    assert best.min() < 11, "some network must have been better before the end"
    small = make_small(epochs=12, **settings)
    recipe = small.train(lambda stack: EarlyStopping(0.3).held_out_recipe(stack, HELD_OUT))
    assert isinstance(recipe, BestEpoch)
    np.testing.assert_allclose(recipe.losses[SLOTS], losses.min(0), rtol=0, atol=1e-10)
    for model, epoch in enumerate(best):
        np.testing.assert_array_equal(small.logits()[model], by_epoch[epoch][model])


def test_more_held_out_records_than_a_batch_has_rows() -> None:
    """MEMBERS judged as a whole take several passes of 16 rows."""
    small = make_small(members=FITTED, num_train=EXPECTED, epochs=1, batch=8)
    recipe = small.train(lambda stack: BestEpoch(stack, MEMBERS))
    assert isinstance(recipe, BestEpoch)
    assert MEMBERS.sum(1).min() > 2 * small.schedule.index_shape[2]
    expected = held_out_losses(small.logits(), MEMBERS)
    np.testing.assert_allclose(recipe.losses[SLOTS], expected, rtol=0, atol=1e-10)


def test_while_every_epoch_is_better_it_is_plain_training() -> None:
    """Judged by the records it fits, at a small learning rate, the last epoch is the best."""
    small = make_small(learning_rate=1e-4)
    small.train(lambda stack: BestEpoch(stack, MEMBERS))
    np.testing.assert_array_equal(small.logits(), plain_logits(learning_rate=1e-4))


def test_with_nothing_held_out_the_last_epoch_stays() -> None:
    small = make_small(**OVERFITTING)
    small.train(lambda stack: BestEpoch(stack, np.zeros_like(MEMBERS)))
    reference = make_small(**OVERFITTING)
    reference.train(lambda stack: Recipe())
    np.testing.assert_array_equal(small.logits(), reference.logits())


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_refuses_a_share_that_is_none(share: float) -> None:
    with pytest.raises(ValueError, match=r"defence.held_out is .*: it must be between 0 and 1"):
        EarlyStopping(share).supports(MLP(), small_data())
