"""Weight decay: large weights cost, so that single records are memorised less."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Outputs


@dataclass
class WeightDecay:
    """L2 regularisation (arXiv 1610.05820, §IX), for model=mlp.

    strength: added to the gradient times the weights, as torch.optim.Adam and SGD do; it replaces
    the model's own weight_decay. 0 is plain training.
    """

    strength: float = 0.01

    @property
    def name(self) -> str:
        """How configuration and reports call this defence."""
        return "weight_decay"

    def supports(self, model: Any, dataset: Dataset) -> None:
        """ValueError: another model than mlp, or a negative strength."""
        if not isinstance(model, MLP):
            raise ValueError(f"defence=weight_decay trains model=mlp only, not {model.name}.")
        if not self.strength >= 0:
            raise ValueError(f"defence.strength is {self.strength}: it must not be negative.")

    def claimed_epsilon(self, model: Any = None, *, num_train: int) -> float | None:
        """No privacy is promised."""
        return None

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
    ) -> Outputs:
        """`MLP.train` of a copy of the model with this weight decay (members bool [m, N])."""
        decayed = replace(model, weight_decay=self.strength)
        return decayed.train(
            dataset, members, seeds, num_train=num_train, device=device, slots=slots
        )
