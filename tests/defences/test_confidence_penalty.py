"""Confidence penalty: the gradient of −β · entropy, and less confident networks."""

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.confidence_penalty import ConfidencePenalty
from mia_audit.models.mlp import MLP
from tests.defences.small import Moment, make_small, plain_logits, small_data


def test_equals_autograd_one_model_at_a_time() -> None:
    small = make_small()

    def loss(logits: torch.Tensor, labels: torch.Tensor, moment: Moment) -> torch.Tensor:
        entropy = torch.distributions.Categorical(logits=logits).entropy().mean()
        return nn.functional.cross_entropy(logits, labels) - 0.7 * entropy

    expected = small.train_naively(loss)
    small.train(ConfidencePenalty(0.7).recipe)
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_strength_zero_is_plain_training() -> None:
    small = make_small()
    small.train(ConfidencePenalty(0.0).recipe)
    np.testing.assert_array_equal(small.logits(), plain_logits())


def test_a_stronger_penalty_leaves_predictions_of_more_entropy() -> None:
    entropies = []
    for strength in (0.0, 0.5, 2.0):
        small = make_small(epochs=40, learning_rate=0.01)
        small.train(ConfidencePenalty(strength).recipe)
        logits = torch.from_numpy(small.logits())
        entropies.append(float(torch.distributions.Categorical(logits=logits).entropy().mean()))
    assert entropies[0] < entropies[1] - 0.1 < entropies[2] - 0.2


def test_refuses_a_negative_strength() -> None:
    with pytest.raises(ValueError, match=r"defence.strength is -1"):
        ConfidencePenalty(-1.0).supports(MLP(), small_data())
