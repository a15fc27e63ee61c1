"""Top label: nothing but the most likely class is released."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mia_audit.defences.kinds import OutputDefence
from mia_audit.models.outputs import Logits, Outputs

SURENESS = float(np.log(99.0))  # φ of a label believed to be right with probability 0.99


@dataclass
class TopLabel(OutputDefence):
    """The predicted label alone (arXiv 1610.05820, mitigation strategies, k = 1), for every model.

    The attacker is left with whether the label is right (the gap attack, arXiv 2007.14321).
    The released label is scored as a belief of 0.99 in it, the rest spread over the other
    classes: φ is log 99 where it is right and at most −log 99 where it is wrong. What the attack
    adapts to is how many shadow models get a record right with it and without it. Attacks that
    ask about perturbed copies of a record are not made.
    """

    name: ClassVar[str] = "top_label"

    @property
    def attacker(self) -> str:
        """Whom an audit assumes, in a sentence."""
        return (
            "Adaptive and label-only: the attacker sees whether the predicted label of a record "
            "is right, from the target as from every shadow model, and asks about no other points."
        )

    def release(self, outputs: Outputs, seeds: np.ndarray) -> Outputs:
        """Logits that are 0 but for the predicted class."""
        num_classes = outputs.values.shape[-1]
        top = outputs.predictions()[..., None] == np.arange(num_classes)
        value = np.float32(SURENESS + np.log(num_classes - 1))
        return Logits(np.where(top, value, np.float32(0)))
