"""Adversarial regularisation: both players' steps as autograd makes them; the attack loses."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.adversarial_regularisation import (
    LEARNING_RATE,
    AdversarialRegularisation,
    Contested,
)
from mia_audit.models.mlp import MLP
from mia_audit.models.recipe import MakeRecipe
from tests.defences.small import (
    MEMBERS,
    SEEDS,
    SLOTS,
    Moment,
    Small,
    entropy_loss,
    make_small,
    plain_logits,
    small_data,
)
from tests.models.reference import copy_model
from tests.models.tables import gaussian_table

FITTED, EXPECTED = AdversarialRegularisation(held_out=0.3).fitted(MEMBERS, SEEDS, 45)
SPLIT: dict[str, Any] = {"members": FITTED, "num_train": EXPECTED}


def contested(strength: float) -> MakeRecipe:
    return lambda stack: Contested(strength, stack, MEMBERS & ~FITTED)


def play_naively(small: Small, strength: float) -> np.ndarray:
    """Logits of networks trained one by one against attacks of their own, with autograd."""
    recipe = Contested(strength, small.stack, MEMBERS & ~FITTED)
    draws = [list(recipe.draw_epoch(e, 3)) for e in range(small.config.epochs)]
    attack, learner = nn.Module(), None
    gain = torch.zeros(())

    def view(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        one_hot = nn.functional.one_hot(labels, logits.shape[1]).to(logits)
        return torch.cat([logits.softmax(1), one_hot], 1)

    def ask(model: nn.Sequential, x: torch.Tensor, moment: Moment) -> torch.Tensor:
        nonlocal attack, learner, gain
        if moment.epoch == moment.step == 0:
            attack = copy_model(recipe.attack, moment.slot)
            learner = torch.optim.Adam(attack.parameters(), lr=LEARNING_RATE)
        assert learner is not None
        labels = small.stack.labels[moment.rows]
        (reference,) = draws[moment.epoch][moment.step]
        rows = reference[moment.slot]
        logits = model(x)
        inside = view(logits, labels)
        outside = view(model(small.stack.records[rows]), small.stack.labels[rows])
        cost = nn.functional.cross_entropy
        members = torch.ones(len(inside), dtype=torch.int64)
        others = torch.zeros(len(outside), dtype=torch.int64)
        loss = cost(attack(inside.detach()), members) + cost(attack(outside.detach()), others)
        learner.zero_grad()
        (0.5 * loss).backward()
        learner.step()
        gain = attack(inside).log_softmax(1)[:, 1].mean()
        return logits

    return small.train_naively(
        lambda logits, labels, moment: entropy_loss(logits, labels, moment) + strength * gain,
        ask,
    )


def test_equals_autograd_one_pair_of_players_at_a_time() -> None:
    small = make_small(epochs=5, batch=12, **SPLIT)
    assert small.schedule.index_shape[0] == 3
    expected = play_naively(small, 2.0)
    small.train(contested(2.0))
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_reference_records_are_held_out_and_drawn_evenly() -> None:
    small = make_small(**SPLIT)
    recipe = Contested(1.0, small.stack, MEMBERS & ~FITTED)
    drawn = torch.stack([index for (index,) in recipe.draw_epoch(0, 400)])
    for slot, held_out in zip(SLOTS, MEMBERS & ~FITTED, strict=True):
        counts = np.bincount(drawn[:, slot].flatten(), minlength=90)
        assert (counts[~held_out] == 0).all()
        mean = counts.sum() / held_out.sum()
        assert np.abs(counts[held_out] - mean).max() < 4.5 * np.sqrt(mean)


def test_strength_zero_is_plain_training_on_what_is_fitted() -> None:
    small = make_small(**SPLIT)
    small.train(contested(0.0))
    np.testing.assert_array_equal(small.logits(), plain_logits(**SPLIT))


def test_fitted_and_unseen_records_look_more_alike() -> None:
    """The gap in confidence between fitted and other records shrinks with the strength."""

    data = gaussian_table(600, 10, 3, noise=1.5)
    members = np.random.default_rng(1).random((6, 600)) < 0.5
    seeds, model = np.arange(6), MLP(hidden=[32], epochs=30, batch=32, learning_rate=0.005)

    def gap(strength: float) -> float:
        defence = AdversarialRegularisation(strength=strength)
        fitted, _ = defence.fitted(members, seeds, 300)
        phi = defence.train(model, data, members, seeds, num_train=300).confidence(data.y)
        log_confidence = -np.logaddexp(0, -phi)
        return float(log_confidence[fitted].mean() - log_confidence[~members].mean())

    assert gap(3.0) < 0.9 * gap(0.0)


def test_a_capture_leaves_no_trace_on_the_attack() -> None:
    small = make_small(**SPLIT)
    recipe = Contested(1.0, small.stack, MEMBERS & ~FITTED)
    before = recipe.attack.parameters.clone()
    small.train(lambda stack: recipe)
    assert not torch.equal(recipe.attack.parameters, before)
    recipe.reset()
    assert torch.equal(recipe.attack.parameters, before)


def test_refuses_a_negative_strength() -> None:
    with pytest.raises(ValueError, match=r"defence.strength is -1"):
        AdversarialRegularisation(-1.0).supports(MLP(), small_data())
