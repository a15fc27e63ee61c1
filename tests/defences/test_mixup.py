"""Mixup: convex combinations of records and labels, drawn within each training set."""

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.mixup import Mixup
from mia_audit.models.mlp import MLP
from tests.defences.small import SLOTS, Moment, Small, make_small, plain_logits, small_data


def drawn(small: Small, alpha: float) -> list[list[tuple[torch.Tensor, ...]]]:
    """What a recipe draws for every epoch and step."""
    recipe = Mixup(alpha).recipe(small.stack)
    return [list(recipe.draw_epoch(e, 3)) for e in range(small.config.epochs)]


def test_equals_mixing_one_model_at_a_time() -> None:
    small = make_small()
    draws = drawn(small, 0.5)

    def second(moment: Moment) -> tuple[torch.Tensor, torch.Tensor]:
        """Records that a batch is mixed with, and their weight."""
        index, _, weight = draws[moment.epoch][moment.step]
        return index.view(4, -1)[moment.slot][moment.real], weight[moment.slot, 0, 0]

    def ask(model: nn.Sequential, x: torch.Tensor, moment: Moment) -> torch.Tensor:
        rows, weight = second(moment)
        return model((1 - weight) * x + weight * small.stack.records[rows])

    def loss(logits: torch.Tensor, labels: torch.Tensor, moment: Moment) -> torch.Tensor:
        rows, weight = second(moment)
        entropy = nn.functional.cross_entropy
        first, other = entropy(logits, labels), entropy(logits, small.stack.labels[rows])
        return (1 - weight) * first + weight * other

    expected = small.train_naively(loss, ask)
    small.train(Mixup(0.5).recipe)
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_pairs_stay_within_a_training_set_and_weights_are_beta() -> None:
    small = make_small(epochs=300)
    weights = []
    for epoch in drawn(small, 0.5):
        seen: dict[int, list[int]] = {slot: [] for slot in SLOTS}
        for step, (index, labels, weight) in enumerate(epoch):
            assert torch.equal(labels, small.stack.labels[index.view(4, 1, -1)])
            weights.append(weight[SLOTS].flatten())
            for slot in SLOTS:
                real = small.schedule.weights[step, slot, 0] > 0
                seen[slot] += index.view(4, -1)[slot][real].tolist()
        for slot in SLOTS:
            assert sorted(seen[slot]) == small.schedule.rows[slot].tolist()
    every = torch.cat(weights)
    # Beta(½, ½): mean ½, variance ⅛, fourth central moment 3/128.
    count = len(every)
    assert abs(every.mean() - 0.5) < 4 * (1 / 8 / count) ** 0.5
    assert abs(every.var() - 1 / 8) < 4 * ((3 / 128 - 1 / 64) / count) ** 0.5


def test_alpha_zero_is_plain_training() -> None:
    small = make_small()
    small.train(Mixup(0.0).recipe)
    np.testing.assert_array_equal(small.logits(), plain_logits())


def test_refuses_a_negative_alpha() -> None:
    with pytest.raises(ValueError, match=r"defence.alpha is -1"):
        Mixup(-1.0).supports(MLP(), small_data())
