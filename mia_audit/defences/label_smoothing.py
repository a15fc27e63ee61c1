"""Label smoothing: no label is worth full confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mia_audit.defences.kinds import TrainingDefence
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    from mia_audit.models.stacked import StackedMLP


@dataclass
class LabelSmoothing(TrainingDefence):
    """Training towards labels mixed with the uniform distribution (arXiv 1512.00567, §7), for
    model=mlp.

    amount: share of the uniform distribution in a label; 0 is plain training. It can also raise
    what leaks (Kaya & Dumitraş, ICML 2021): the audit shows which.
    """

    amount: float = 0.1
    name: ClassVar[str] = "label_smoothing"

    def check(self) -> None:
        """ValueError unless 0 ≤ amount < 1."""
        if not 0 <= self.amount < 1:
            raise ValueError(f"defence.amount is {self.amount}: it must be in [0, 1).")

    def recipe(self, stack: Stack) -> Recipe:
        """Cross-entropy to (1 − amount) · one-hot + amount / C."""
        return _Smoothed(self.amount)


class _Smoothed(Recipe):
    def __init__(self, amount: float) -> None:
        self._amount = amount

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − (1 − amount) · one-hot − amount / C)."""
        signal = network.signals[-1].copy_(network.logits.softmax(1))
        signal.scatter_add_(1, batch.targets, network.minus_one * (1 - self._amount))
        signal.sub_(self._amount / signal.shape[1]).mul_(batch.weights)
