"""Scores of records under models: the logit-scaled confidence φ (arXiv 2112.03570).

φ = log p_y − log Σ_{c≠y} p_c, taken from logits so that it neither saturates nor rounds.
"""

import numpy as np


def logit_confidence(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """φ from logits, float [..., N].

    ``logits`` [..., N, C], or [..., N] / [..., N, 1] for a binary model with one output (the logit
    of class 1); ``labels`` int [N]. Where [..., N] and [..., N, C] could both be meant (a square
    array), C classes are assumed. Raises ValueError when shapes or labels do not fit.
    """
    values = _with_classes(np.asarray(logits), labels)
    label = _check_labels(labels, max(values.shape[-1], 2))
    storage = np.float64 if values.dtype == np.float64 else np.float32
    values = values.astype(np.float64)
    if values.shape[-1] == 1:
        return np.where(label == 1, values[..., 0], -values[..., 0]).astype(storage)
    own, others = _split(values, label)
    peak = others.max(axis=-1, keepdims=True)
    rest = np.log(np.exp(others - peak).sum(axis=-1)) + peak[..., 0]
    return (own - rest).astype(storage)


def logit_confidence_from_probabilities(
    probabilities: np.ndarray, labels: np.ndarray, *, eps: float = 1e-12
) -> np.ndarray:
    """φ from probabilities, for models that have no logits, float64 [..., N].

    Shapes as in `logit_confidence`. p_y and Σ_{c≠y} p_c are clipped to [eps, 1 − eps]. Raises
    ValueError when shapes or labels do not fit, or a probability lies outside [0, 1].
    """
    values = _with_classes(np.asarray(probabilities), labels).astype(np.float64)
    if not (values.min(initial=0.0) >= -1e-6 and values.max(initial=0.0) <= 1 + 1e-6):
        raise ValueError("probabilities must lie between 0 and 1: pass logits to logit_confidence.")
    if values.shape[-1] == 1:
        values = np.concatenate([1.0 - values, values], axis=-1)
    own, others = _split(values, _check_labels(labels, values.shape[-1]))
    rest = others.sum(axis=-1)
    return np.log(np.clip(own, eps, 1 - eps)) - np.log(np.clip(rest, eps, 1 - eps))


def log_confidence(scores: np.ndarray) -> np.ndarray:
    """log p_y = −log(1 + e^{−φ}) from logit-scaled confidences φ, float64, same shape."""
    return -np.logaddexp(0.0, -np.asarray(scores, dtype=np.float64))


def _with_classes(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """[..., N, C], or [..., N, 1] for a single output."""
    num_records = np.asarray(labels).shape[0] if np.ndim(labels) == 1 else -1
    if values.ndim >= 2 and values.shape[-2] == num_records:
        return values
    if values.ndim >= 1 and values.shape[-1] == num_records:
        return values[..., None]
    raise ValueError(
        f"model outputs of shape {values.shape} do not fit labels of shape {np.shape(labels)}: "
        "give outputs [..., N, C] (or [..., N] for one output) and labels [N]."
    )


def _check_labels(labels: np.ndarray, num_classes: int) -> np.ndarray:
    label = np.asarray(labels)
    if not np.issubdtype(label.dtype, np.integer) and not np.array_equal(label, label.astype(int)):
        raise ValueError("labels must be whole numbers 0 … C−1.")
    label = label.astype(np.int64)
    if label.size and not (label.min() >= 0 and label.max() < num_classes):
        raise ValueError(
            f"labels run from {label.min()} to {label.max()} but the outputs have {num_classes} "
            f"classes: number the classes 0 … {num_classes - 1}."
        )
    return label


def _split(values: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The label's value [..., N] and the other classes' values [..., N, C − 1]."""
    num_records, num_classes = values.shape[-2:]
    rows = np.arange(num_records)
    others = (label[:, None] + np.arange(1, num_classes)) % num_classes
    return values[..., rows, label], values[..., rows[:, None], others]
