"""No defence trains exactly what the model trains."""

import numpy as np

from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from tests.models.tables import gaussian_table


def test_is_the_models_own_training() -> None:
    data = gaussian_table(100, 4, 2)
    members = np.random.default_rng(0).random((2, 100)) < 0.5
    model, seeds = MLP(hidden=[4], epochs=1, batch=16), np.array([1, 2])
    slots = np.array([4, 7])
    NoDefence().supports(model, data)
    ours = NoDefence().train(model, data, members, seeds, num_train=50, slots=slots)
    own = model.train(data, members, seeds, num_train=50, slots=slots)
    np.testing.assert_array_equal(ours.confidence(data.y), own.confidence(data.y))
