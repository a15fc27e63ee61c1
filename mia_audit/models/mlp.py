"""The multilayer perceptron, trained many at a time."""

from dataclasses import dataclass, field
from enum import Enum
from math import inf

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.outputs import Logits

STACKS = {"cpu": 8, "cuda": 512}  # on a CPU as many as its second-level cache holds


class Optimiser(Enum):
    """How a network's weights are updated."""

    adam = "adam"
    sgd = "sgd"


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
        if not 0 < self.learning_rate < inf:
            raise ValueError(
                f"model.learning_rate is {self.learning_rate}: it must be positive and finite."
            )
        if not 0 <= self.momentum < 1:
            raise ValueError(f"model.momentum is {self.momentum}: it must be in [0, 1).")
        if not 0 <= self.weight_decay < inf:
            raise ValueError(
                f"model.weight_decay is {self.weight_decay}: it must be finite, not negative."
            )
        if dataset.num_classes < 2:
            raise ValueError(f"{dataset.name} has one class: there is nothing to learn.")

    def check_sizes(self, sizes: np.ndarray, *, num_train: int) -> None:
        """ValueError if a training set (of `sizes` [M]) is smaller than its batches an epoch."""
        steps = -(-num_train // self.batch)
        if sizes.min() < steps:
            raise ValueError(
                f"model.batch is {self.batch}: an epoch has {steps} batches, but a training set "
                f"only {sizes.min()} records; take a larger batch or pool."
            )

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
        from mia_audit.models.mlp_training import train_mlps

        slots = np.arange(len(members)) if slots is None else np.asarray(slots)
        assert len(members) == len(seeds) == len(slots) <= self.stack(device)
        values = train_mlps(
            self, dataset, members, seeds, slots, num_train=num_train, device=device
        )
        return Logits(values)
