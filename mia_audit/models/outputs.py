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


def log_probabilities(outputs: Outputs) -> np.ndarray:
    """Log-probabilities float64 [m, N, C]; those of probabilities are clipped at log(1e-12)."""
    if isinstance(outputs, Probabilities):
        return np.log(np.clip(outputs.values, 1e-12, None).astype(np.float64))
    values = outputs.values.astype(np.float64)
    return values - np.logaddexp.reduce(values, axis=-1, keepdims=True)


def probabilities(outputs: Outputs) -> np.ndarray:
    """Class probabilities float64 [m, N, C]."""
    if isinstance(outputs, Probabilities):
        return outputs.values.astype(np.float64)
    return np.exp(log_probabilities(outputs))
