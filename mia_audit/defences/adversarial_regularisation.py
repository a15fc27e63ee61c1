"""Adversarial regularisation: the network is trained against an attack that learns beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mia_audit.defences.held_out import HeldOutDefence
from mia_audit.defences.held_out_rows import HeldOutRows
from mia_audit.defences.streams import STEPS, numpy_streams, torch_streams
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    import torch

    from mia_audit.models.stacked import StackedMLP

HIDDEN, LEARNING_RATE = 64, 1e-3  # of the attack


@dataclass
class AdversarialRegularisation(HeldOutDefence):
    """A min-max game with an inference attack (arXiv 1807.05852, algorithm 1), for model=mlp.

    The attack h(p, y) is a network on the predicted probabilities and the label. At every step it
    learns to tell the batch from as many reference records; then the network descends on
    cross-entropy + λ · log h. The paper's reference set is other data; here it is held out.

    strength: λ, 2 to 6 in the paper; 0 is plain training on what is not held out. log h has no
    floor: at a large λ the network would rather be wrong than recognised.
    held_out: share of each training set that serves as the reference and is not fitted.
    """

    strength: float = 3.0
    held_out: float = 0.2
    name: ClassVar[str] = "adversarial_regularisation"

    def check(self) -> None:
        """ValueError for a negative strength or a share that is none."""
        super().check()
        if not self.strength >= 0:
            raise ValueError(f"defence.strength is {self.strength}: it must not be negative.")

    def held_out_recipe(self, stack: Stack, held_out: np.ndarray) -> Recipe:
        """Every network has an attack of its own."""
        return Contested(self.strength, stack, held_out)


class Contested(Recipe):
    """Alternating steps of attack and network.

    attack: a stack of networks on [p, one-hot y], with outputs (non-member, member); the first B
    rows of its batch are the network's own batch, the other B the reference records.
    """

    def __init__(self, strength: float, stack: Stack, held_out: np.ndarray) -> None:
        import torch

        from mia_audit.models.optimisers import Adam
        from mia_audit.models.stacked import StackedMLP

        network = stack.network
        self._strength, self._labels = strength, stack.labels
        self._reference = HeldOutRows.of(stack, held_out)
        self._streams = numpy_streams(stack.seeds, STEPS)
        self._rows, self._classes = network.logits.shape[2], network.sizes[-1]
        sizes = 2 * self._classes, HIDDEN, 2
        self.attack = StackedMLP(
            sizes,
            network.num_models,
            2 * self._rows,
            device=str(stack.records.device),
            dtype=stack.records.dtype,
        )
        starts = torch_streams(stack.seeds, STEPS, torch.device("cpu"))
        self.attack.initialise(starts, np.arange(network.num_models))
        self._initial = self.attack.parameters.clone()
        buffers = self.attack.parameters, self.attack.gradient
        self._optimiser = Adam(*buffers, lr=LEARNING_RATE, weight_decay=0.0)
        self._all_members = stack.labels.new_ones(network.num_models, 1, 2 * self._rows)
        self._is_member = self._all_members.clone()
        self._is_member[..., self._rows :] = 0

    def reset(self) -> None:
        """The attack as it was at the start."""
        self.attack.parameters.copy_(self._initial)
        self._optimiser.reset()

    def draw_epoch(self, epoch: int, steps: int) -> Iterable[tuple[torch.Tensor, ...]]:
        """Reference records [K, B] for every step."""
        drawn = self._reference.draw(self._streams, steps, self._rows)
        return ((index,) for index in drawn)

    def forward(self, network: StackedMLP, records: torch.Tensor, batch: Batch) -> None:
        """Show both halves to the attack and let it learn; the batch's logits stay behind."""
        (reference,) = batch.drawn
        network.forward(records, reference.flatten())
        self._show(network.logits, self._labels[reference].unsqueeze(1), slice(self._rows, None))
        network.forward(records, batch.rows)
        self._show(network.logits, batch.targets, slice(0, self._rows))
        self._learn(batch.weights)

    def _show(self, logits: torch.Tensor, targets: torch.Tensor, rows: slice) -> None:
        """Fill the attack's inputs of some rows with probabilities and one-hot labels."""
        inputs = self.attack.inputs[0][:, rows]
        inputs[..., : self._classes] = logits.softmax(1).mT
        inputs[..., self._classes :] = 0
        inputs.scatter_(2, targets.mT + self._classes, 1.0)

    def _learn(self, weights: torch.Tensor) -> None:
        """A step of the attack up its gain ½ · mean log h + ½ · mean log(1 − h)."""
        attack, rows = self.attack, self._rows
        attack.forward_inputs()
        attack.set_loss_signal(self._is_member, None)
        signal = attack.signals[-1].mul_(0.5)
        signal[..., :rows].mul_(weights)
        signal[..., rows:].mul_(1 / rows)
        attack.propagate_signals()
        attack.collect_gradient()
        self._optimiser.step()

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − one-hot + λ · d log h / d logits)."""
        network.set_loss_signal(batch.targets, None)
        probabilities = network.logits.softmax(1)
        slope = self._slope()
        mean = (probabilities * slope).sum(1, keepdim=True)
        gain = (slope - mean).mul_(probabilities)
        network.signals[-1].add_(gain, alpha=self._strength).mul_(batch.weights)

    def _slope(self) -> torch.Tensor:
        """Derivative of log h by the batch's probabilities, [K, C, B]."""
        attack = self.attack
        attack.forward_inputs()
        attack.set_loss_signal(self._all_members, None)
        attack.propagate_signals()
        by_inputs = attack.signals[0] @ attack.weights_t[0]
        return by_inputs[:, : self._rows, : self._classes].mT.neg()
