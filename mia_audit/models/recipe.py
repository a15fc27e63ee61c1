"""What a defence may change of how a stack of networks is trained. Imports no torch.

Letters: K slots of a stack, S steps an epoch, B rows of a padded batch, N records, C classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import torch

    from mia_audit.models.batches import Schedule
    from mia_audit.models.stacked import StackedMLP


@dataclass(frozen=True, eq=False)
class Stack:
    """A stack about to be trained.

    records [N, F]; labels int64 [N]; seeds int64 [K], a slot's whole randomness (0 for a dummy);
    slots int [m], where the real models sit.
    """

    network: StackedMLP
    schedule: Schedule
    records: torch.Tensor
    labels: torch.Tensor
    seeds: np.ndarray
    slots: np.ndarray


class Batch(NamedTuple):
    """One step's batches.

    rows int64 [K·B], record numbers; targets int64 [K, 1, B]; weights [K, 1, B], 1 / (size of
    the batch) and 0 for padding; drawn: what the recipe drew for this step.
    """

    rows: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor
    drawn: tuple[torch.Tensor, ...]


class Recipe:
    """Plain training. A defence's own recipe replaces some of these methods.

    On a GPU `forward`, `set_signal` and `propagate` are captured once and replayed: they may
    depend on nothing but tensors, and anything that changes from step to step is drawn.
    """

    def draw_epoch(self, epoch: int, steps: int) -> Iterable[tuple[torch.Tensor, ...]]:
        """For each step of an epoch what it needs beside its records, of the same shapes."""
        return itertools.repeat((), steps)

    def forward(self, network: StackedMLP, records: torch.Tensor, batch: Batch) -> None:
        """Set the network's logits on the batch."""
        network.forward(records, batch.rows)

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """Set the derivative of each model's loss by its logits."""
        network.set_loss_signal(batch.targets, batch.weights)

    def propagate(self, network: StackedMLP, batch: Batch) -> None:
        """Set the signals of the hidden layers."""
        network.propagate_signals()

    def reset(self) -> None:
        """Forget every step taken (a capture takes some in vain)."""

    def end_epoch(self, network: StackedMLP, records: torch.Tensor) -> None:
        """After the last step of each epoch."""

    def finish(self, network: StackedMLP) -> None:
        """After the last epoch."""


MakeRecipe = Callable[[Stack], Recipe]


def plain(stack: Stack) -> Recipe:
    """The recipe of undefended training."""
    return Recipe()
