"""A stack equals models trained one by one, and each model of it depends on nothing else."""

import numpy as np
import pytest
import torch

from mia_audit.models.batches import make_schedule
from mia_audit.models.mlp import MLP, Optimiser
from mia_audit.models.mlp_training import build_network, build_optimiser, draw_generators
from mia_audit.models.training import train_stack
from tests.models.reference import copy_generators, copy_model, train_reference
from tests.models.tables import gaussian_table

CONFIGS = {
    "adam": MLP(hidden=[8, 6], epochs=4, batch=16),
    "adam, decay, five classes": MLP(hidden=[7], epochs=3, batch=8, weight_decay=0.01),
    "sgd with momentum": MLP(
        hidden=[8, 6], epochs=4, batch=16, optimiser=Optimiser.sgd, learning_rate=0.05
    ),
    "sgd, decay, no momentum": MLP(
        hidden=[5, 4, 3],
        epochs=3,
        batch=16,
        optimiser=Optimiser.sgd,
        learning_rate=0.1,
        momentum=0.0,
        weight_decay=0.02,
    ),
    "no hidden layer": MLP(hidden=[], epochs=3, batch=16, learning_rate=0.01),
}


@pytest.mark.parametrize("label", CONFIGS)
@pytest.mark.parametrize("num_classes", [2, 5])
def test_equals_models_trained_one_by_one(label: str, num_classes: int) -> None:
    config = CONFIGS[label]
    data = gaussian_table(90, 6, num_classes)
    members = np.random.default_rng(1).random((3, 90)) < 0.5
    assert len(set(members.sum(1))) == 3, "sets of unequal size are the point"
    slots = np.array([0, 2, 3])
    schedule = make_schedule(members, slots, num_slots=4, num_train=45, batch=config.batch)
    network = build_network(config, data, 4, schedule.index_shape[2], dtype=torch.float64)
    generators = draw_generators(np.array([5, 6, 7]), slots, 4)
    network.initialise(generators, slots)
    records, labels = torch.from_numpy(data.X).double(), torch.from_numpy(data.y)
    models = {slot: copy_model(network, slot) for slot in slots}
    for slot, model in models.items():
        train_reference(config, model, slot, schedule, copy_generators(generators), records, labels)
    optimiser = build_optimiser(config, network)
    train_stack(network, schedule, generators, optimiser, records, labels, epochs=config.epochs)
    logits = network.predict(records, chunk=32)
    for slot, model in models.items():
        expected = model(records).detach().numpy()
        np.testing.assert_allclose(logits[slot], expected, rtol=0, atol=1e-10)
        for layer, linear in enumerate(model[::2]):
            np.testing.assert_allclose(
                network.linear_weight(layer, slot).numpy(),
                linear.weight.detach().numpy(),
                rtol=0,
                atol=1e-10,
            )


def test_initialises_as_torch_does() -> None:
    data = gaussian_table(20, 6, 3)
    network = build_network(MLP(hidden=[4]), data, 2, 8)
    network.initialise([torch.Generator().manual_seed(s) for s in (1, 2)], np.array([0, 1]))
    for slot, seed in enumerate((1, 2)):
        torch.manual_seed(seed)
        expected = [torch.nn.Linear(6, 4), torch.nn.Linear(4, 3)]
        for layer, linear in enumerate(expected):
            assert torch.equal(network.linear_weight(layer, slot), linear.weight)
            assert torch.equal(network.biases[layer][slot].flatten(), linear.bias)


def test_prediction_does_not_depend_on_the_chunk() -> None:
    data = gaussian_table(50, 6, 3)
    network = build_network(MLP(hidden=[4]), data, 1, 8, dtype=torch.float64)
    network.initialise([torch.Generator().manual_seed(1)], np.array([0]))
    records = torch.from_numpy(data.X).double()
    whole = network.predict(records)
    np.testing.assert_allclose(whole, network.predict(records, chunk=7), atol=1e-14)
    np.testing.assert_allclose(whole[0], copy_model(network, 0)(records).detach(), atol=1e-14)
