"""From an MLP's settings to a trained stack."""

import numpy as np
import torch

from mia_audit.data.dataset import Dataset
from mia_audit.models.batches import make_schedule
from mia_audit.models.mlp import MLP, Optimiser
from mia_audit.models.optimisers import SGD, Adam
from mia_audit.models.recipe import MakeRecipe, Stack, plain
from mia_audit.models.stacked import StackedMLP
from mia_audit.models.training import one_thread, train_stack


def train_mlps(
    model: MLP,
    dataset: Dataset,
    members: np.ndarray,
    seeds: np.ndarray,
    slots: np.ndarray,
    *,
    num_train: int,
    device: str,
    make_recipe: MakeRecipe = plain,
) -> np.ndarray:
    """Logits float32 [m, N, C] of m networks trained in their slots of a full stack.

    make_recipe: gives the recipe that this stack is trained by.
    """
    num_slots = model.stack(device)
    schedule = make_schedule(
        members, slots, num_slots=num_slots, num_train=num_train, batch=model.batch
    )
    records = torch.from_numpy(dataset.X).to(device)
    labels = torch.from_numpy(dataset.y).to(device)
    network = build_network(model, dataset, num_slots, schedule.index_shape[2], device=device)
    generators = draw_generators(seeds, slots, num_slots)
    network.initialise(generators, slots)
    optimiser = build_optimiser(model, network)
    own = np.zeros(num_slots, dtype=np.int64)
    own[slots] = seeds
    with one_thread(device):
        recipe = make_recipe(Stack(network, schedule, records, labels, own, slots))
        train_stack(
            network,
            schedule,
            generators,
            optimiser,
            records,
            labels,
            epochs=model.epochs,
            recipe=recipe,
        )
        return network.predict(records)[slots]


def build_network(
    model: MLP,
    dataset: Dataset,
    num_models: int,
    batch_rows: int,
    *,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> StackedMLP:
    """An untrained stack of the model's shape for a data set, all parameters zero."""
    sizes = (dataset.X.shape[1], *model.hidden, dataset.num_classes)
    return StackedMLP(sizes, num_models, batch_rows, device=device, dtype=dtype)


def build_optimiser(model: MLP, network: StackedMLP) -> Adam | SGD:
    """The optimiser of a stack, at step 0."""
    buffers = network.parameters, network.gradient
    rate, decay = model.learning_rate, model.weight_decay
    if model.optimiser is Optimiser.adam:
        return Adam(*buffers, lr=rate, weight_decay=decay)
    return SGD(*buffers, lr=rate, momentum=model.momentum, weight_decay=decay)


def draw_generators(seeds: np.ndarray, slots: np.ndarray, num_slots: int) -> list[torch.Generator]:
    """A generator for every slot: a model's own seed, or a seed nothing depends on."""
    generators = [torch.Generator() for _ in range(num_slots)]
    for seed, slot in zip(seeds, slots, strict=True):
        generators[slot].manual_seed(int(seed))
    return generators
