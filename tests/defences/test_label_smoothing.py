"""Label smoothing: cross-entropy to smoothed labels, as torch has it."""

import numpy as np
import pytest
from torch import nn

from mia_audit.defences.label_smoothing import LabelSmoothing
from mia_audit.models.mlp import MLP
from tests.defences.small import MEMBERS, make_small, plain_logits, small_data


@pytest.mark.parametrize("num_classes", [2, 3])
def test_equals_torchs_label_smoothing_one_model_at_a_time(num_classes: int) -> None:
    small = make_small(num_classes=num_classes)
    loss = nn.CrossEntropyLoss(label_smoothing=0.2)
    expected = small.train_naively(lambda logits, labels, moment: loss(logits, labels))
    small.train(LabelSmoothing(0.2).recipe)
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_amount_zero_is_plain_training() -> None:
    small = make_small()
    small.train(LabelSmoothing(0.0).recipe)
    np.testing.assert_array_equal(small.logits(), plain_logits())


def test_confidence_settles_at_the_smoothed_label() -> None:
    """Fitted without limit, the probability of a record's label tends to 1 − amount + amount/C."""
    small = make_small(epochs=150, learning_rate=0.02, hidden=[40])
    small.train(LabelSmoothing(0.3).recipe)
    values = np.exp(small.logits())
    values /= values.sum(-1, keepdims=True)
    own = values[:, np.arange(90), small_data().y]
    assert np.median(own[MEMBERS]) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("amount", [-0.1, 1.0])
def test_refuses_an_amount_that_makes_no_sense(amount: float) -> None:
    with pytest.raises(ValueError, match=r"defence.amount is .*: it must be in \[0, 1\)"):
        LabelSmoothing(amount).supports(MLP(), small_data())
