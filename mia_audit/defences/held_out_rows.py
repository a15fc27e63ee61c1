"""The held-out records of every slot, laid out for the forward passes of a stack.

Letters: K slots, B rows of a padded batch, P passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.models.recipe import Stack

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """index int64 [P, K, B], 0 for padding; weights [P, K, 1, B], 1 / (a slot's held-out records)
    and 0 for padding; sizes int64 [K]."""

    index: torch.Tensor
    weights: torch.Tensor
    sizes: np.ndarray

    @classmethod
    def of(cls, stack: Stack, held_out: np.ndarray) -> HeldOutRows:
        """Lay out what each real model holds out, bool [m, N]."""
        import torch

        _, num_slots, width = stack.schedule.index_shape
        sizes = np.zeros(num_slots, dtype=np.int64)
        sizes[stack.slots] = held_out.sum(1)
        passes = max(1, -(-int(sizes.max()) // width))
        index = np.zeros((num_slots, passes * width), dtype=np.int64)
        weights = np.zeros((num_slots, passes * width))
        for slot, row in zip(stack.slots, held_out, strict=True):
            index[slot, : sizes[slot]] = np.flatnonzero(row)
            weights[slot, : sizes[slot]] = 1 / max(1, sizes[slot])
        shape = num_slots, passes, width
        return cls(
            torch.from_numpy(index.reshape(shape)).transpose(0, 1).to(stack.records.device),
            torch.from_numpy(weights.reshape(shape)).transpose(0, 1)[:, :, None].to(stack.records),
            sizes,
        )

    def passes(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Index [K, B] and weights [K, 1, B] of one pass after another."""
        return zip(self.index, self.weights, strict=True)

    def draw(self, generators: list[np.random.Generator], steps: int, width: int) -> torch.Tensor:
        """Records drawn with replacement, int64 [steps, K, width]; record 0 for a dummy."""
        import torch

        rows = self.index.transpose(0, 1).flatten(1).cpu().numpy()
        drawn = [
            own[rng.integers(max(1, size), size=(steps, width))]
            for own, size, rng in zip(rows, self.sizes, generators, strict=True)
        ]
        return torch.from_numpy(np.stack(drawn, 1)).to(self.index.device)
