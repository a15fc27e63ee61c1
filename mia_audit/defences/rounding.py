"""Rounding: few decimals of the probabilities are released."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mia_audit.defences.kinds import OutputDefence
from mia_audit.models.outputs import Outputs, Probabilities, probabilities


@dataclass
class Rounding(OutputDefence):
    """Probabilities rounded to a number of decimals (arXiv 1610.05820, mitigation strategies),
    for every model.

    A released 0.00 means less than half a unit of the last decimal and is scored as a quarter of
    it, 1.00 likewise: an attacker who knows of the rounding does not take them for certainty.

    decimals: 15 releases all that a probability holds.
    """

    decimals: int = 1
    name: ClassVar[str] = "rounding"

    def check(self) -> None:
        """ValueError for decimals outside 1 … 15."""
        if not 1 <= self.decimals <= 15:
            raise ValueError(f"defence.decimals is {self.decimals}: it must be from 1 to 15.")

    def release(self, outputs: Outputs, seeds: np.ndarray) -> Outputs:
        """Rounded probabilities, inside 0 and 1 by a quarter of the last decimal's unit."""
        least = 0.25 * 10.0**-self.decimals
        return Probabilities(probabilities(outputs).round(self.decimals).clip(least, 1 - least))
