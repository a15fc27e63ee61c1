"""No defence: the model as its own training makes it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.outputs import Outputs


@dataclass
class NoDefence:
    """Plain training, the reference every defence is compared with."""

    @property
    def name(self) -> str:
        """How configuration and reports call this defence."""
        return "none"

    def supports(self, model: Any, dataset: Dataset) -> None:
        """Every model can be trained without a defence."""

    def claimed_epsilon(self, model: Any = None, *, num_train: int) -> float | None:
        """No privacy is promised."""
        return None

    def train(
        self,
        model: Any,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Outputs:
        """`model.train`, unchanged: m models, one on each row of `members` (bool [m, N])."""
        return model.train(dataset, members, seeds, num_train=num_train, device=device, slots=slots)
