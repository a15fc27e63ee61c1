"""What a trained model says about every record, and the one score made from it.

Letters: m models, N records, C classes.
"""

from dataclasses import dataclass

import numpy as np

from mia_audit.stats.scores import logit_confidence, logit_confidence_from_probabilities


@dataclass(frozen=True, eq=False)
class Logits:
    """Unnormalised log-probabilities of m models on N records, float32 [m, N, C]."""

    values: np.ndarray

    def confidence(self, labels: np.ndarray) -> np.ndarray:
        """Logit-scaled confidence φ in each record's own label, float32 [m, N].

        labels: int [N]. Taken from the logits by log-sum-exp: φ from rounded probabilities is
        infinite beyond 17 (arXiv 2112.03570, §VI).
        """
        return logit_confidence(self.values, labels).astype(np.float32)

    def predictions(self) -> np.ndarray:
        """The most likely class of every record, int64 [m, N]."""
        return self.values.argmax(axis=-1)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Class probabilities of m models on N records, float [m, N, C], where no logits exist."""

    values: np.ndarray

    def confidence(self, labels: np.ndarray) -> np.ndarray:
        """Logit-scaled confidence φ, float32 [m, N], of probabilities clipped at 1e-12.

        labels: int [N].
        """
        return logit_confidence_from_probabilities(self.values, labels).astype(np.float32)

    def predictions(self) -> np.ndarray:
        """The most likely class of every record, int64 [m, N]."""
        return self.values.argmax(axis=-1)


Outputs = Logits | Probabilities
