"""Defences that set a part of each training set aside, for a purpose other than fitting.

A defender has no data but his own: the part that is set aside counts as training data in the
audit, since the released model depends on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.defences.kinds import TrainingDefence, train_by
from mia_audit.defences.streams import draw_subsets, expected_size
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits

if TYPE_CHECKING:
    from mia_audit.models.recipe import Recipe, Stack


class HeldOutDefence(TrainingDefence):
    """A defence of model=mlp that holds out a share of each training set."""

    held_out: float

    def check(self) -> None:
        """ValueError unless 0 < held_out < 1."""
        if not 0 < self.held_out < 1:
            raise ValueError(f"defence.held_out is {self.held_out}: it must be between 0 and 1.")

    def held_out_recipe(self, stack: Stack, held_out: np.ndarray) -> Recipe:
        """How this stack is trained; held_out bool [m, N], what each real model holds out."""
        raise NotImplementedError

    def fitted(
        self, members: np.ndarray, seeds: np.ndarray, num_train: int
    ) -> tuple[np.ndarray, int]:
        """What is left to fit, bool [m, N], and how many records that is on average."""
        share = 1 - self.held_out
        return draw_subsets(members, seeds, share), expected_size(num_train, share)

    def train(
        self,
        model: MLP,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        """Train m networks by the recipe; arguments and result are those of MLP.train."""
        fitted, expected = self.fitted(members, seeds, num_train)
        return train_by(
            lambda stack: self.held_out_recipe(stack, members & ~fitted),
            model,
            dataset,
            fitted,
            seeds,
            num_train=expected,
            device=device,
            slots=slots,
        )
