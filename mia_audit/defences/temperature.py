"""Temperature: predictions are released flatter than they are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mia_audit.defences.kinds import OutputDefence
from mia_audit.models.outputs import Logits, Outputs, Probabilities


@dataclass
class Temperature(OutputDefence):
    """Logits divided by a temperature before the softmax (arXiv 1610.05820, mitigation
    strategies), for every model. The most likely class stays.

    value: the temperature; 1 releases what the model says. With two classes the score of every
    model is divided by it, too, which an attacker with shadow models undoes: LiRA then measures
    what it measures without a defence.
    """

    value: float = 4.0
    name: ClassVar[str] = "temperature"

    def check(self) -> None:
        """ValueError unless the temperature is positive."""
        if not self.value > 0:
            raise ValueError(f"defence.value is {self.value}: it must be positive.")

    def release(self, outputs: Outputs, seeds: np.ndarray) -> Outputs:
        """Logits / value, or probabilities to the power 1 / value, normalised."""
        if isinstance(outputs, Logits):
            return Logits(outputs.values / np.float32(self.value))
        powers = np.asarray(outputs.values, dtype=np.float64) ** (1 / self.value)
        return Probabilities(powers / powers.sum(-1, keepdims=True))
