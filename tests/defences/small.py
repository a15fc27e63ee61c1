"""Small stacks in float64 for the tests of training-side defences, and slow oracles of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from mia_audit.data.dataset import Dataset
from mia_audit.models.batches import Schedule, make_schedule
from mia_audit.models.mlp import MLP
from mia_audit.models.mlp_training import build_network, build_optimiser, draw_generators
from mia_audit.models.recipe import MakeRecipe, Recipe, Stack
from mia_audit.models.stacked import StackedMLP
from mia_audit.models.training import train_stack
from tests.models.reference import copy_generators, copy_model, make_torch_optimiser
from tests.models.tables import gaussian_table

NUM_RECORDS, SLOTS, SEEDS = 90, np.array([0, 2, 3]), np.array([5, 6, 7])
MEMBERS = np.random.default_rng(1).random((3, NUM_RECORDS)) < 0.5


@dataclass
class Moment:
    """One step of one model: its slot, and the record numbers of its batch without padding."""

    slot: int
    epoch: int
    step: int
    rows: torch.Tensor
    real: torch.Tensor  # bool [B], which rows of the padded batch those are


# (logits [B, C], labels [B], moment) → the loss of one model's batch
Loss = Callable[[torch.Tensor, torch.Tensor, Moment], torch.Tensor]
# (model, records [B, F], moment) → logits [B, C]
Ask = Callable[[nn.Sequential, torch.Tensor, Moment], torch.Tensor]


def ask_plainly(model: nn.Sequential, records: torch.Tensor, moment: Moment) -> torch.Tensor:
    return model(records)


def entropy_loss(logits: torch.Tensor, labels: torch.Tensor, moment: Moment) -> torch.Tensor:
    return nn.functional.cross_entropy(logits, labels)


@dataclass
class Small:
    """Three models of unequal training sets in a stack of four, initialised."""

    config: MLP
    stack: Stack
    generators: list[torch.Generator]

    @property
    def network(self) -> StackedMLP:
        return self.stack.network

    @property
    def schedule(self) -> Schedule:
        return self.stack.schedule

    def train(self, make_recipe: MakeRecipe) -> Recipe:
        """Train the stack by a recipe; returns the recipe as training left it."""
        recipe = make_recipe(self.stack)
        train_stack(
            self.network,
            self.schedule,
            copy_generators(self.generators),
            build_optimiser(self.config, self.network),
            self.stack.records,
            self.stack.labels,
            epochs=self.config.epochs,
            recipe=recipe,
        )
        return recipe

    def logits(self) -> np.ndarray:
        """What the trained models say, float64 [m, N, C]."""
        return self.network.predict(self.stack.records)[self.stack.slots]

    def train_naively(self, loss: Loss, ask: Ask = ask_plainly) -> np.ndarray:
        """Logits [m, N, C] of the models trained one by one with autograd; `network` must be
        untrained, and stays so."""
        return np.stack([self._train_one(int(slot), loss, ask) for slot in self.stack.slots])

    def _train_one(self, slot: int, loss: Loss, ask: Ask) -> np.ndarray:
        model = copy_model(self.network, slot)
        optimiser = make_torch_optimiser(self.config, model)
        generators = copy_generators(self.generators)
        for epoch in range(self.config.epochs):
            index = self.schedule.draw_epoch(generators)
            for step in range(len(index)):
                real = self.schedule.weights[step, slot, 0] > 0
                rows = index[step, slot][real]
                moment = Moment(slot, epoch, step, rows, real)
                logits = ask(model, self.stack.records[rows], moment)
                optimiser.zero_grad()
                loss(logits, self.stack.labels[rows], moment).backward()
                optimiser.step()
        return model(self.stack.records).detach().numpy()


def make_small(
    *, num_classes: int = 3, members: np.ndarray = MEMBERS, num_train: int = 45, **settings: Any
) -> Small:
    """A small stack; settings are MLP's."""
    shape: dict[str, Any] = {"hidden": [8, 6], "epochs": 4, "batch": 16}
    config = MLP(**(shape | settings))
    data = small_data(num_classes)
    schedule = make_schedule(members, SLOTS, num_slots=4, num_train=num_train, batch=config.batch)
    network = build_network(config, data, 4, schedule.index_shape[2], dtype=torch.float64)
    generators = draw_generators(SEEDS, SLOTS, 4)
    network.initialise(generators, SLOTS)
    seeds = np.zeros(4, dtype=np.int64)
    seeds[SLOTS] = SEEDS
    records, labels = torch.from_numpy(data.X).double(), torch.from_numpy(data.y)
    return Small(config, Stack(network, schedule, records, labels, seeds, SLOTS), generators)


def small_data(num_classes: int = 3) -> Dataset:
    return gaussian_table(NUM_RECORDS, 6, num_classes)


def plain_logits(**settings: Any) -> np.ndarray:
    """Logits of the same stack without a defence."""
    small = make_small(**settings)
    small.train(lambda stack: Recipe())
    return small.logits()
