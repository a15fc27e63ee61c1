"""RelaxLoss: the loss on the training set is held at a level instead of being driven to 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mia_audit.defences.kinds import TrainingDefence
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    import torch

    from mia_audit.models.stacked import StackedMLP


@dataclass
class RelaxLoss(TrainingDefence):
    """Ascent and posterior flattening below a level of the loss (arXiv 2207.05801, algorithm 1),
    for model=mlp.

    While a batch's mean cross-entropy is at least `level`, a step descends. Below it, in even
    epochs a step ascends, and in odd ones it descends towards soft labels that keep a record's
    confidence in its own label and spread the rest evenly over the other classes. With two
    classes there is nothing to spread, and the odd epochs only hold.

    level: α, in nats; 0 is plain training.
    """

    level: float = 0.3
    name: ClassVar[str] = "relaxloss"

    def check(self) -> None:
        """ValueError for a negative level."""
        if not self.level >= 0:
            raise ValueError(f"defence.level is {self.level}: it must not be negative.")

    def recipe(self, stack: Stack) -> Recipe:
        """Descent above the level, ascent or flattening below it, model by model."""
        return _Relaxed(self.level, stack.records)


class _Relaxed(Recipe):
    def __init__(self, level: float, like: torch.Tensor) -> None:
        self._level = level
        self._flags = like.new_zeros(1), like.new_ones(1)

    def draw_epoch(self, epoch: int, steps: int) -> Iterable[tuple[torch.Tensor, ...]]:
        """Whether the epoch is odd, as a number: a captured step can read tensors alone."""
        return [(self._flags[epoch % 2],)] * steps

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − one-hot), its negative, or weight · (softmax − soft label)."""
        (is_odd,) = batch.drawn
        network.set_loss_signal(batch.targets, batch.weights)
        signal = network.signals[-1]
        logs = network.logits.log_softmax(1)
        own = logs.gather(1, batch.targets)
        is_above = (own * batch.weights).sum(2, keepdim=True).neg_() >= self._level
        below = is_odd * self._flatten(logs.exp(), own.exp(), batch) - (1 - is_odd) * signal
        signal.copy_(signal.where(is_above, below))

    def _flatten(self, posterior: torch.Tensor, own: torch.Tensor, batch: Batch) -> torch.Tensor:
        """weight · (softmax − soft label): zero for the record's own label."""
        other = (1 - own) / (posterior.shape[1] - 1)
        others = (posterior - other).scatter(1, batch.targets, 0.0)
        return others.mul_(batch.weights)
