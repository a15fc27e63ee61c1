"""Slow oracles: one PyTorch model at a time, on batches and weights taken from a stack."""

import itertools

import torch
from torch import nn

from mia_audit.models.batches import Schedule
from mia_audit.models.mlp import MLP, Optimiser
from mia_audit.models.stacked import StackedMLP


def copy_model(network: StackedMLP, slot: int) -> nn.Sequential:
    """The model in `slot` as torch.nn.Linear layers, an independent copy."""
    layers: list[nn.Module] = []
    for layer, (width, out) in enumerate(itertools.pairwise(network.sizes)):
        linear = nn.Linear(width, out, dtype=network.parameters.dtype)
        with torch.no_grad():
            linear.weight.copy_(network.linear_weight(layer, slot))
            linear.bias.copy_(network.biases[layer][slot].flatten())
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def copy_generators(generators: list[torch.Generator]) -> list[torch.Generator]:
    """Generators that will draw what these would draw."""
    return [torch.Generator().set_state(generator.get_state()) for generator in generators]


def make_torch_optimiser(config: MLP, model: nn.Module) -> torch.optim.Optimizer:
    """torch's own optimiser with a config's settings."""
    common = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
    if config.optimiser is Optimiser.adam:
        return torch.optim.Adam(model.parameters(), **common)
    return torch.optim.SGD(model.parameters(), momentum=config.momentum, **common)


def train_reference(
    config: MLP,
    model: nn.Module,
    slot: int,
    schedule: Schedule,
    generators: list[torch.Generator],
    records: torch.Tensor,
    labels: torch.Tensor,
) -> None:
    """Train one model with autograd on the batches that its slot sees, padding left out."""
    optimiser = make_torch_optimiser(config, model)
    for _ in range(config.epochs):
        index = schedule.draw_epoch(generators)
        for step in range(len(index)):
            batch = index[step, slot][schedule.weights[step, slot, 0] > 0]
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(records[batch]), labels[batch]).backward()
            optimiser.step()
