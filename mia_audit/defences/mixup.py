"""Mixup: networks see mixtures of records, never a record itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mia_audit.defences.kinds import TrainingDefence
from mia_audit.defences.streams import STEPS, numpy_streams, torch_streams
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    import torch

    from mia_audit.models.stacked import StackedMLP


@dataclass
class Mixup(TrainingDefence):
    """Training on convex combinations of pairs of records and of their labels (arXiv 1710.09412),
    for model=mlp.

    alpha: the weight of the first of a pair is Beta(α, α), drawn for each batch; the second comes
    from a second pass in an order of its own (figure 1 of the paper). 0 is plain training.
    """

    alpha: float = 0.4
    name: ClassVar[str] = "mixup"

    def check(self) -> None:
        """ValueError for a negative α."""
        if not self.alpha >= 0:
            raise ValueError(f"defence.alpha is {self.alpha}: it must not be negative.")

    def recipe(self, stack: Stack) -> Recipe:
        """Pairs are drawn within each model's own training set."""
        return _Mixed(self.alpha, stack)


class _Mixed(Recipe):
    def __init__(self, alpha: float, stack: Stack) -> None:
        import torch

        self._alpha, self._stack = alpha, stack
        self._orders = torch_streams(stack.seeds, STEPS, torch.device("cpu"))
        self._weights = numpy_streams(stack.seeds, STEPS)

    def draw_epoch(self, epoch: int, steps: int) -> Iterable[tuple[torch.Tensor, ...]]:
        """Second records [K·B], their labels [K, 1, B], the second's weight [K, 1, 1]."""
        stack = self._stack
        index = stack.schedule.draw_epoch(self._orders).to(stack.records.device)
        labels = stack.labels[index].unsqueeze(2)
        return zip(index.flatten(1), labels, self._draw_weights(steps), strict=True)

    def _draw_weights(self, steps: int) -> torch.Tensor:
        """Weights of the second records, [S, K, 1, 1]."""
        import torch

        if self._alpha == 0:
            drawn = torch.zeros(len(self._weights), steps)
        else:
            beta = [rng.beta(self._alpha, self._alpha, steps) for rng in self._weights]
            drawn = torch.from_numpy(np.stack(beta))
        return drawn.T[..., None, None].to(self._stack.records)

    def forward(self, network: StackedMLP, records: torch.Tensor, batch: Batch) -> None:
        """Logits of (1 − weight) · first + weight · second."""
        second, _, weight = batch.drawn
        network.gather(records, batch.rows)
        first = network.inputs[0]
        first.lerp_(records.index_select(0, second).view_as(first), weight)
        network.forward_inputs()

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − mixture of the labels)."""
        _, labels, weight = batch.drawn
        signal = network.signals[-1].copy_(network.logits.softmax(1))
        signal.scatter_add_(1, batch.targets, network.minus_one * (1 - weight))
        signal.scatter_add_(1, labels, network.minus_one * weight)
        signal.mul_(batch.weights)
