"""Confidence penalty: predictions of low entropy cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mia_audit.defences.kinds import TrainingDefence
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    from mia_audit.models.stacked import StackedMLP


@dataclass
class ConfidencePenalty(TrainingDefence):
    """Cross-entropy less β times the prediction's entropy (arXiv 1701.06548), for
    model=mlp.

    strength: β; 0 is plain training.
    """

    strength: float = 0.3
    name: ClassVar[str] = "confidence_penalty"

    def check(self) -> None:
        """ValueError for a negative strength."""
        if not self.strength >= 0:
            raise ValueError(f"defence.strength is {self.strength}: it must not be negative.")

    def recipe(self, stack: Stack) -> Recipe:
        """Cross-entropy − strength · entropy."""
        return _Penalised(self.strength)


class _Penalised(Recipe):
    def __init__(self, strength: float) -> None:
        self._strength = strength

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − one-hot + β · p · (log p + entropy))."""
        network.set_loss_signal(batch.targets, None)
        logs = network.logits.log_softmax(1)
        probabilities = logs.exp()
        entropy = (probabilities * logs).sum(1, keepdim=True).neg_()
        penalty = (logs + entropy).mul_(probabilities)
        network.signals[-1].add_(penalty, alpha=self._strength).mul_(batch.weights)
