"""Cut-off values: conformal quantiles of out scores, exact-t quantiles, bins of a covariate."""

import numpy as np
import scipy
from numpy.typing import NDArray


def upper_rank(alpha: float, count: int) -> int:
    """j = ⌊α(n+1)⌋: the conformal cut-off is the j-th largest of n out scores, +∞ for j = 0."""
    product = alpha * (count + 1)
    return int(np.floor(product + 1e-9 * max(1.0, product)))


def conformal_cutoff(ascending: NDArray, alpha: float) -> float:
    """The ⌈(1−α)(n+1)⌉-th smallest of n sorted out scores; +∞ where that exceeds n."""
    rank = upper_rank(alpha, ascending.size)
    if rank > ascending.size:
        return -np.inf
    return float(ascending[ascending.size - rank]) if rank else np.inf


def student_cutoff(alpha: float, df: float) -> float:
    """t.isf(α, df), the normal quantile for infinite df."""
    return float(scipy.stats.norm.isf(alpha) if np.isinf(df) else scipy.stats.t.isf(alpha, df))


def exact_cutoffs(most: int, alpha: float) -> NDArray[np.float64]:
    """The exact-t cut-off for n = 0 … `most` out shadows; +∞ below two."""
    n = np.arange(2, most + 1)
    return np.concatenate([[np.inf, np.inf], scipy.stats.t.isf(alpha, n - 1) * np.sqrt(1 + 1 / n)])


def quantile_edges(covariate_out: NDArray, bins: int) -> NDArray[np.float64]:
    """Inner edges of `bins` bins with equal shares of the out entries' covariate."""
    if covariate_out.size == 0:
        return np.empty(0)
    return np.quantile(covariate_out, np.arange(1, bins) / bins)


def assign_bins(covariate: NDArray, edges: NDArray) -> NDArray[np.uint8]:
    """The bin of every entry; NaN goes to the last one, where its z is NaN too."""
    return np.searchsorted(edges, covariate, side="right").astype(np.uint8)


def merge_bins(counts: NDArray, alpha: float) -> NDArray[np.uint8]:
    """New bin of every old bin, neighbours joined from left to right until each holds ≥ 5/α.

    `counts` are out scores per bin. A short last bin joins the one on its left; fewer than 5/α
    scores in all leave one bin.
    """
    wanted = 5 / alpha * (1 - 1e-9)
    merged = np.zeros(len(counts), dtype=np.uint8)
    bin_now, held = 0, 0
    for position, count in enumerate(counts):
        merged[position] = bin_now
        held += int(count)
        if held >= wanted:
            bin_now, held = bin_now + 1, 0
    if bin_now > 0:
        merged = np.minimum(merged, np.uint8(bin_now - 1))
    return merged
