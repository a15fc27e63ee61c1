"""Membership scores of texts from the log-probabilities a language model gives their tokens.

Letters: T tokens of one text, V vocabulary.  Natural logarithms.  Every score is turned so that
higher = more likely a member; where a paper has it the other way the sign is changed here, once.
Each score feeds `select_members` or `roc_curve` as it is.
"""

from __future__ import annotations

import math
import zlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def perplexity(token_log_probs: ArrayLike) -> float:
    """Minus the perplexity exp(−mean log p) of a text with token log-probabilities [T].

    Source: arXiv 2012.07805 (Carlini et al. 2021), §4.1.
    """
    return -float(np.exp(-_tokens(token_log_probs).mean()))


def zlib_ratio(token_log_probs: ArrayLike, text: str) -> float:
    """Minus the log-perplexity over the zlib-compressed length of ``text`` in bytes.

    Source: arXiv 2012.07805 (Carlini et al. 2021), §5.2.
    """
    return float(_tokens(token_log_probs).mean()) / len(zlib.compress(text.encode("utf-8")))


def min_k(token_log_probs: ArrayLike, *, share: float = 0.2) -> float:
    """Mean log-probability of the ``share`` least likely tokens (at least one) of [T].

    Source: arXiv 2310.16789 (Shi et al. 2024), Min-K% Prob.
    """
    return _mean_of_lowest(_tokens(token_log_probs), share)


def min_k_plus_plus(
    token_log_probs: ArrayLike, means: ArrayLike, deviations: ArrayLike, *, share: float = 0.2
) -> float:
    """Min-K% of (log p − μ)/σ, μ and σ [T] the moments of log p over the model's own next tokens.

    Both moments are taken under the model's distribution at that position:
    μ = Σ_v p_v log p_v, σ² = Σ_v p_v (log p_v − μ)².
    Source: arXiv 2404.02936 (Zhang et al. 2025), eq. 3.
    """
    log_probs = _tokens(token_log_probs)
    mean, deviation = np.asarray(means, float), np.asarray(deviations, float)
    if mean.shape != log_probs.shape or deviation.shape != log_probs.shape:
        raise ValueError(
            f"means {mean.shape} and deviations {deviation.shape} must have one entry for each of "
            f"the {log_probs.size} tokens."
        )
    if not (np.isfinite(mean).all() and np.all(deviation > 0)):
        raise ValueError("means must be finite and deviations positive at every token.")
    return _mean_of_lowest((log_probs - mean) / deviation, share)


def modified_entropy(log_probs: ArrayLike, labels: ArrayLike) -> Floats:
    """Minus the modified entropy of each prediction: log_probs [..., V], labels [...] → [...].

    Mentr = −(1 − p_y) log p_y − Σ_{v≠y} p_v log(1 − p_v).  For a text average over its tokens.
    Source: arXiv 2003.10595 (Song & Mittal 2021), eq. 8.
    """
    table = _distributions(log_probs)
    index = np.asarray(labels)
    if index.shape != table.shape[:-1] or not np.issubdtype(index.dtype, np.integer):
        raise ValueError(
            f"labels must be whole numbers of shape {table.shape[:-1]}, got {index.dtype} "
            f"{index.shape}."
        )
    if np.any((index < 0) | (index >= table.shape[-1])):
        raise ValueError(f"labels must lie between 0 and {table.shape[-1] - 1}.")
    own = np.take_along_axis(table, index[..., None], axis=-1)[..., 0]
    others = np.exp(table) * _log_complement(table)
    np.put_along_axis(others, index[..., None], 0.0, axis=-1)
    return -np.expm1(own) * np.maximum(own, _SMALLEST) + others.sum(axis=-1)


def renyi_k(log_probs: ArrayLike, *, order: float = 0.5, share: float = 0.1) -> float:
    """Minus the mean Rényi entropy over the ``share`` tokens where it is largest (at least one).

    ``log_probs`` [T, V] next-token distributions; no token of the text itself is used.
    H_a = log(Σ_v p_v^a)/(1 − a); order 1 is Shannon's entropy, ∞ the min-entropy −log max p.
    ``share`` 0 takes the single largest, 1 all of them.
    Source: arXiv 2411.02902 (Li et al. 2024), MaxRényi-K%.
    """
    if not order > 0:
        raise ValueError(f"order must be positive (inf allowed), got {order!r}.")
    table = _distributions(log_probs)
    if table.ndim != 2:
        raise ValueError(f"log_probs must be [tokens, vocabulary], got shape {table.shape}.")
    return _mean_of_lowest(-_renyi_entropy(table, order), share)


_SMALLEST = math.log(1e-300)  # stands in for log 0 where it would be multiplied by one


def _renyi_entropy(table: Floats, order: float) -> Floats:
    if math.isinf(order):
        return -table.max(axis=-1)
    if order == 1:
        return -np.sum(np.exp(table) * np.maximum(table, _SMALLEST), axis=-1)
    return np.logaddexp.reduce(order * table, axis=-1) / (1 - order)


def _log_complement(table: Floats) -> Floats:
    """log(1 − p) from log p, finite at p = 1."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(-np.expm1(table)), _SMALLEST)


def _mean_of_lowest(values: Floats, share: float) -> float:
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie between 0 and 1, got {share!r}.")
    count = max(1, math.floor(share * values.size + 1e-9))
    return float(np.partition(values, count - 1)[:count].mean())


def _tokens(values: ArrayLike) -> Floats:
    log_probs = np.asarray(values, float)
    if log_probs.ndim != 1 or log_probs.size == 0 or not np.all(log_probs <= 0):
        raise ValueError(
            "token_log_probs must be a non-empty vector of log-probabilities, none above 0 or NaN."
        )
    return log_probs


def _distributions(values: ArrayLike) -> Floats:
    """Log-probabilities [..., V], each row summing to one to 1e-3 (half precision)."""
    table = np.asarray(values, float)
    if table.ndim == 0 or table.size == 0:
        raise ValueError("log_probs must hold at least one distribution.")
    if not np.allclose(np.logaddexp.reduce(table, axis=-1), 0, atol=1e-3):
        raise ValueError("log_probs must be logarithms of distributions; use a log-softmax.")
    return np.minimum(table, 0.0)
