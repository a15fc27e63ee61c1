"""Early stopping: the weights of the epoch that does best on records not fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mia_audit.defences.held_out import HeldOutDefence
from mia_audit.defences.held_out_rows import HeldOutRows
from mia_audit.models.recipe import Recipe, Stack

if TYPE_CHECKING:
    import torch

    from mia_audit.models.stacked import StackedMLP


@dataclass
class EarlyStopping(HeldOutDefence):
    """The epoch with the least cross-entropy on a held-out part of the training set (arXiv
    2003.10595), for model=mlp.

    All of the model's epochs are run, and each network is set back to its own best one, the last
    of equals: stopping without a patience to choose.

    held_out: share of each training set that judges the epochs and is not fitted.
    """

    held_out: float = 0.1
    name: ClassVar[str] = "early_stopping"

    def held_out_recipe(self, stack: Stack, held_out: np.ndarray) -> Recipe:
        """Plain training that remembers the best epoch."""
        return BestEpoch(stack, held_out)


class BestEpoch(Recipe):
    """Plain training that ends at each network's best epoch.

    losses: float [K], the least held-out loss so far.
    """

    def __init__(self, stack: Stack, held_out: np.ndarray) -> None:
        self._rows = HeldOutRows.of(stack, held_out)
        self._labels = stack.labels
        self._best = [part.clone() for part in _parts(stack.network)]
        self.losses = stack.records.new_full((stack.network.num_models,), float("inf"))

    def end_epoch(self, network: StackedMLP, records: torch.Tensor) -> None:
        """Remember the weights of the networks that have not been better before."""
        loss = self._loss(network, records)
        better = loss <= self.losses
        self.losses = loss.where(better, self.losses)
        for best, part in zip(self._best, _parts(network), strict=True):
            best.copy_(part.where(better[:, None, None], best))

    def _loss(self, network: StackedMLP, records: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy on each slot's held-out records, [K]; 0 where there are none."""
        total = self.losses.new_zeros(len(self.losses))
        for index, weights in self._rows.passes():
            network.forward(records, index.flatten())
            logs = network.logits.log_softmax(1)
            own = logs.gather(1, self._labels[index].unsqueeze(1))
            total -= (own * weights).sum((1, 2))
        return total

    def finish(self, network: StackedMLP) -> None:
        """Set every network back to its best epoch."""
        for best, part in zip(self._best, _parts(network), strict=True):
            part.copy_(best)


def _parts(network: StackedMLP) -> list[torch.Tensor]:
    return [*network.weights, *network.biases]
