"""Output noise: predictions are released with random noise on them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mia_audit.defences.kinds import OutputDefence
from mia_audit.defences.streams import STEPS, numpy_streams
from mia_audit.models.outputs import Logits, Outputs, log_probabilities


@dataclass
class OutputNoise(OutputDefence):
    """Gaussian noise on the logits, for every model: the random counterpart of MemGuard's crafted
    noise (arXiv 1909.10594), without its promise to keep the most likely class.

    A record's noise is drawn once a model, so that asking again shows nothing new.

    scale: sd of the noise on each logit (log-probability where a model has no logits); 0 releases
    what the model says.
    """

    scale: float = 1.0
    name: ClassVar[str] = "output_noise"

    def check(self) -> None:
        """ValueError for a negative scale."""
        if not self.scale >= 0:
            raise ValueError(f"defence.scale is {self.scale}: it must not be negative.")

    def release(self, outputs: Outputs, seeds: np.ndarray) -> Outputs:
        """Noisy logits, each model's noise from its own stream."""
        if self.scale == 0:
            return outputs
        shape = outputs.values.shape[1:]
        noise = [rng.standard_normal(shape, np.float32) for rng in numpy_streams(seeds, STEPS)]
        noisy = log_probabilities(outputs) + self.scale * np.stack(noise)
        return Logits(noisy.astype(np.float32))
