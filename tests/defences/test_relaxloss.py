"""RelaxLoss: the three kinds of step that algorithm 1 has; the loss stays at its level."""

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.relaxloss import RelaxLoss
from mia_audit.models.mlp import MLP
from tests.defences.small import Moment, make_small, plain_logits, small_data


@pytest.mark.parametrize("num_classes", [2, 3])
def test_equals_algorithm_1_one_model_at_a_time(num_classes: int) -> None:
    level = 0.6
    small = make_small(num_classes=num_classes, epochs=24, learning_rate=0.01)
    branches = []

    def loss(logits: torch.Tensor, labels: torch.Tensor, moment: Moment) -> torch.Tensor:
        plain = nn.functional.cross_entropy(logits, labels)
        if plain >= level:
            branches.append("descent")
            return plain
        if moment.epoch % 2 == 0:
            branches.append("ascent")
            return -plain
        branches.append("flattening")
        posterior = logits.softmax(1).detach()
        own = posterior.gather(1, labels[:, None])
        soft = ((1 - own) / (num_classes - 1)).expand_as(posterior).scatter(1, labels[:, None], own)
        return -(soft * logits.log_softmax(1)).sum(1).mean()

    expected = small.train_naively(loss)
    small.train(RelaxLoss(level).recipe)
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)
    assert min(branches.count(b) for b in ("descent", "ascent", "flattening")) > 5, branches


def test_level_zero_is_plain_training() -> None:
    small = make_small()
    small.train(RelaxLoss(0.0).recipe)
    np.testing.assert_array_equal(small.logits(), plain_logits())


@pytest.mark.parametrize("level", [0.3, 0.6])
def test_the_loss_stays_at_its_level(level: float) -> None:
    small = make_small(epochs=80, learning_rate=0.01, hidden=[20])
    small.train(RelaxLoss(level).recipe)
    for logits, slot in zip(torch.from_numpy(small.logits()), (0, 2, 3), strict=True):
        rows = small.schedule.rows[slot]
        loss = nn.functional.cross_entropy(logits[rows], small.stack.labels[rows])
        assert float(loss) == pytest.approx(level, abs=0.12)
    plain = torch.from_numpy(plain_logits(epochs=80, learning_rate=0.01, hidden=[20]))
    rows = small.schedule.rows[0]
    assert nn.functional.cross_entropy(plain[0][rows], small.stack.labels[rows]) < 0.1


def test_refuses_a_negative_level() -> None:
    with pytest.raises(ValueError, match=r"defence.level is -1"):
        RelaxLoss(-1.0).supports(MLP(), small_data())
