"""Dropout: in every step a random half of the hidden units is silent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mia_audit.data.dataset import Dataset
from mia_audit.defences.kinds import TrainingDefence
from mia_audit.defences.streams import STEPS, torch_streams
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    import torch

    from mia_audit.models.stacked import StackedMLP

CHUNK = 8  # steps whose masks are drawn at once: one call a model, and little memory


@dataclass
class Dropout(TrainingDefence):
    """Hidden units silenced at random while training, the others scaled up (arXiv 1207.0580), for
    model=mlp. Predictions use all units.

    rate: probability of a unit to be silent, for each record anew; 0 is plain training.
    """

    rate: float = 0.5
    name: ClassVar[str] = "dropout"

    def check(self) -> None:
        """ValueError unless 0 ≤ rate < 1."""
        if not 0 <= self.rate < 1:
            raise ValueError(f"defence.rate is {self.rate}: it must be in [0, 1).")

    def supports(self, model: Any, dataset: Dataset) -> None:
        """ValueError: another model than mlp, no hidden layer, or settings without sense."""
        super().supports(model, dataset)
        if not model.hidden:
            raise ValueError("defence=dropout silences hidden units, but model.hidden is empty.")

    def recipe(self, stack: Stack) -> Recipe:
        """Masks on every hidden layer's outputs, each model's from its own stream."""
        return _Dropped(self.rate, stack)


class _Dropped(Recipe):
    def __init__(self, rate: float, stack: Stack) -> None:
        self._keep = 1 - rate
        self._like = stack.records
        self._streams = torch_streams(stack.seeds, STEPS, stack.records.device)
        self._rows = stack.schedule.index_shape[2]
        self._widths = stack.network.sizes[1:-1]

    def draw_epoch(self, epoch: int, steps: int) -> Iterable[tuple[torch.Tensor, ...]]:
        """For each hidden layer what its outputs are multiplied by: 0 or 1 / (1 − rate)."""
        for start in range(0, steps, CHUNK):
            for factors in self._draw(min(CHUNK, steps - start)).unbind(1):
                yield factors.split(self._widths, dim=-1)

    def _draw(self, steps: int) -> torch.Tensor:
        """Factors of all hidden units together, [K, steps, B, Σ widths].

        A unit is kept by 16 random bits, four units' from one draw: rate is met to 2⁻¹⁷.
        """
        import torch

        shape = steps, self._rows, sum(self._widths)
        count = math.prod(shape)
        size = len(self._streams), -(-count // 4)
        draws = torch.empty(size, dtype=torch.int64, device=self._like.device)
        for own, stream in zip(draws, self._streams, strict=True):
            own.random_(-(2**63), None, generator=stream)
        bits = draws.view(torch.int16)[:, :count].unflatten(1, shape)
        kept = max(1, round(self._keep * 2**16))
        return (bits >= 2**15 - kept).to(self._like).mul_(1 / self._keep)

    def forward(self, network: StackedMLP, records: torch.Tensor, batch: Batch) -> None:
        """Logits with the drawn units silent."""
        network.gather(records, batch.rows)
        network.forward_inputs(batch.drawn)

    def propagate(self, network: StackedMLP, batch: Batch) -> None:
        """Silent units have no signal, as units below 0 have none; the others' are scaled up
        once for each layer above that a signal has come through."""
        network.propagate_signals()
        for above, signal in enumerate(reversed(network.signals[:-1]), start=1):
            signal.mul_(self._keep**-above)
