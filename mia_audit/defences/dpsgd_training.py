"""Train a stack of networks with DP-SGD."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from mia_audit.data.dataset import Dataset
from mia_audit.defences.poisson import draw_batches, pass_width
from mia_audit.defences.private_step import add_noise, sum_clipped_gradients
from mia_audit.models.mlp import MLP
from mia_audit.models.mlp_training import build_network, build_optimiser, draw_generators
from mia_audit.models.optimisers import SGD, Adam
from mia_audit.models.stacked import StackedMLP
from mia_audit.models.training import one_thread


@dataclass(frozen=True)
class Mechanism:
    """The subsampled Gaussian mechanism of one step.

    rate: probability of a record to be in a batch; expected: batch size that a sum of gradients
    is divided by, whatever the batch's own size; clip: largest gradient norm of an example;
    noise_multiplier: noise sd over clip.
    """

    rate: float
    expected: float
    clip: float
    noise_multiplier: float


def train_private_mlps(
    model: MLP,
    mechanism: Mechanism,
    dataset: Dataset,
    members: np.ndarray,
    seeds: np.ndarray,
    slots: np.ndarray,
    *,
    steps: int,
    device: str,
) -> np.ndarray:
    """Logits float32 [m, N, C] of m networks trained in their slots of a full stack.

    steps: steps an epoch, the same for every model.
    """
    num_slots = model.stack(device)
    rows = [np.zeros(0, dtype=np.int64)] * num_slots
    for row, slot in zip(members, slots, strict=True):
        rows[slot] = np.flatnonzero(row)
    width = pass_width(math.ceil(mechanism.expected))
    network = build_network(model, dataset, num_slots, width, device=device)
    network.initialise(draw_generators(seeds, slots, num_slots), slots)
    records = torch.from_numpy(dataset.X).to(device)
    with one_thread(device), torch.no_grad():
        train_private_stack(
            network,
            build_optimiser(model, network),
            mechanism,
            records,
            torch.from_numpy(dataset.y).to(device),
            rows,
            Randomness.of(seeds, slots, num_slots, device),
            epochs=model.epochs,
            steps=steps,
        )
        return network.predict(records)[slots]


@dataclass(frozen=True, eq=False)
class Randomness:
    """For every slot a generator of its batches and one of its noise."""

    batches: list[np.random.Generator]
    noise: list[torch.Generator]

    @classmethod
    def of(cls, seeds: np.ndarray, slots: np.ndarray, num_slots: int, device: str) -> "Randomness":
        """Streams that depend on a model's seed alone; a dummy's matter to nobody."""
        own = np.zeros(num_slots, dtype=np.uint64)
        own[slots] = np.asarray(seeds).astype(np.uint64)
        # Streams 1 and 2: the seed itself has drawn the initial weights.
        batches = [np.random.default_rng([int(seed), 1]) for seed in own]
        states = [np.random.SeedSequence([int(seed), 2]).generate_state(2) for seed in own]
        noise = [torch.Generator(device) for _ in own]
        for generator, (low, high) in zip(noise, states, strict=True):
            generator.manual_seed(int(low) + (int(high) >> 1 << 32))
        return cls(batches, noise)


def train_private_stack(
    network: StackedMLP,
    optimiser: Adam | SGD,
    mechanism: Mechanism,
    records: torch.Tensor,
    labels: torch.Tensor,
    rows: list[np.ndarray],
    randomness: Randomness,
    *,
    epochs: int,
    steps: int,
) -> None:
    """Train an initialised network in place. A batch without records still adds noise and steps.

    rows: the records of each slot's training set.
    """
    width = network.logits.shape[-1]
    noise = torch.empty_like(network.parameters).view(network.num_models, -1)
    scale = mechanism.noise_multiplier * mechanism.clip
    for _ in range(epochs):
        batches = draw_batches(
            rows, randomness.batches, rate=mechanism.rate, steps=steps, width=width
        )
        for batch in batches:
            passes = torch.from_numpy(batch).to(records.device)
            sum_clipped_gradients(network, records, labels, passes, mechanism.clip)
            if scale > 0:
                add_noise(network, noise, randomness.noise, scale)
            network.gradient.mul_(1 / mechanism.expected)
            optimiser.step()
