"""The multilayer perceptron, trained many at a time."""

from dataclasses import dataclass, field

import numpy as np
import torch

from mia_audit.data.dataset import Dataset
from mia_audit.models.batches import make_schedule
from mia_audit.models.optimisers import SGD, Adam, Optimiser
from mia_audit.models.outputs import Logits
from mia_audit.models.stacked import StackedMLP
from mia_audit.models.training import one_thread, train_stack

STACKS = {"cpu": 32, "cuda": 512}


@dataclass
class MLP:
    """A ReLU network trained with cross-entropy.

    hidden: widths of the hidden layers; empty for a linear model.
    batch: records a step; all models take ⌈num_train / batch⌉ steps an epoch.
    momentum: of sgd; adam ignores it.
    weight_decay: added to the gradient, as torch.optim.Adam and SGD do.
    """

    hidden: list[int] = field(default_factory=lambda: [64, 64])
    epochs: int = 30
    batch: int = 128
    optimiser: Optimiser = Optimiser.adam
    learning_rate: float = 1e-3
    momentum: float = 0.9
    weight_decay: float = 0.0

    @property
    def name(self) -> str:
        """How configuration and reports call this model."""
        return "mlp"

    def stack(self, device: str) -> int:
        """Models trained as one program on this device ("cpu", "cuda", "cuda:0" …)."""
        return STACKS[device.partition(":")[0]]

    def supports(self, dataset: Dataset) -> None:
        """ValueError if the settings make no sense or the data have a single class."""
        if any(width < 1 for width in self.hidden):
            raise ValueError(f"model.hidden is {self.hidden}: every width must be at least 1.")
        for key in ("epochs", "batch"):
            if getattr(self, key) < 1:
                raise ValueError(f"model.{key} is {getattr(self, key)}: it must be at least 1.")
        if not self.learning_rate > 0:
            raise ValueError(f"model.learning_rate is {self.learning_rate}: it must be positive.")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"model.momentum is {self.momentum}: it must be in [0, 1).")
        if self.weight_decay < 0:
            raise ValueError(f"model.weight_decay is {self.weight_decay}: it must not be negative.")
        if dataset.num_classes < 2:
            raise ValueError(f"{dataset.name} has one class: there is nothing to learn.")

    def train(
        self,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        """Train m models, one on each row of `members`, and ask each about every record.

        members: bool [m, N], m ≤ stack(device); seeds: int64 [m], a model's whole randomness.
        num_train: the design's expected training-set size; it fixes steps and padding.
        slots: int [m], where each model sits in the fixed stack (its index modulo the stack);
            0 … m−1 if None. Equal slots give equal bits whatever else is trained beside them.
        ValueError: a training set is too small or too large for num_train.
        """
        num_slots = self.stack(device)
        slots = np.arange(len(members)) if slots is None else np.asarray(slots)
        assert len(members) == len(seeds) == len(slots) <= num_slots
        schedule = make_schedule(
            members, slots, num_slots=num_slots, num_train=num_train, batch=self.batch
        )
        records = torch.from_numpy(dataset.X).to(device)
        labels = torch.from_numpy(dataset.y).to(device)
        network = self.network(dataset, num_slots, schedule.index_shape[2], device=device)
        generators = draw_generators(seeds, slots, num_slots)
        network.initialise(generators, slots)
        with one_thread(device):
            train_stack(
                network,
                schedule,
                generators,
                self.make_optimiser(network),
                records,
                labels,
                epochs=self.epochs,
            )
            logits = network.predict(records)
        return Logits(logits[slots])

    def network(
        self,
        dataset: Dataset,
        num_models: int,
        batch_rows: int,
        *,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> StackedMLP:
        """An untrained stack of this shape for a data set."""
        sizes = (dataset.X.shape[1], *self.hidden, dataset.num_classes)
        return StackedMLP(sizes, num_models, batch_rows, device=device, dtype=dtype)

    def make_optimiser(self, network: StackedMLP) -> Adam | SGD:
        """The optimiser of a stack, at step 0."""
        buffers = network.parameters, network.gradient
        if self.optimiser is Optimiser.adam:
            return Adam(*buffers, lr=self.learning_rate, weight_decay=self.weight_decay)
        return SGD(
            *buffers,
            lr=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
        )


def draw_generators(seeds: np.ndarray, slots: np.ndarray, num_slots: int) -> list[torch.Generator]:
    """A generator for every slot: a model's own seed, or a seed nothing depends on."""
    generators = [torch.Generator() for _ in range(num_slots)]
    for seed, slot in zip(seeds, slots, strict=True):
        generators[slot].manual_seed(int(seed))
    return generators
