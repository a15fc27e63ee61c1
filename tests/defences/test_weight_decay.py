"""Weight decay shrinks what is learnt, and nothing changes at strength 0."""

import numpy as np
import pytest

from mia_audit.defences.weight_decay import WeightDecay
from mia_audit.models.linear import Logistic
from mia_audit.models.mlp import MLP
from tests.models.tables import gaussian_table

DATA = gaussian_table(200, 6, 2)
MEMBERS = np.random.default_rng(0).random((3, 200)) < 0.5
SEEDS = np.array([1, 2, 3])


def confidence(strength: float, model: MLP) -> np.ndarray:
    trained = WeightDecay(strength).train(model, DATA, MEMBERS, SEEDS, num_train=100)
    return trained.confidence(DATA.y)


def test_strength_zero_is_plain_training() -> None:
    model = MLP(hidden=[8], epochs=3, batch=16)
    plain = model.train(DATA, MEMBERS, SEEDS, num_train=100).confidence(DATA.y)
    np.testing.assert_array_equal(confidence(0.0, model), plain)


def test_a_stronger_decay_leaves_less_confident_models() -> None:
    model = MLP(hidden=[8], epochs=20, batch=16)
    size = [float(np.abs(confidence(strength, model)).mean()) for strength in (0.0, 0.01, 0.3)]
    assert size[0] > size[1] > size[2]


def test_fits_the_mlp_alone_and_only_sensible_strengths() -> None:
    WeightDecay(0.1).supports(MLP(), DATA)
    with pytest.raises(ValueError, match="model=mlp only"):
        WeightDecay(0.1).supports(Logistic(), DATA)
    with pytest.raises(ValueError, match="negative"):
        WeightDecay(-1.0).supports(MLP(), DATA)
    assert WeightDecay().claimed_epsilon(num_train=100) is None
