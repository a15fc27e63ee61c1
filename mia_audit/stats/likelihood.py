"""The kernel of online LiRA: a block's log-likelihood ratios in few passes over memory."""

import numpy as np

from mia_audit.stats.blocks import VARIANCE_FLOOR, Block, ClassSums, rows


def is_full(block: Block) -> bool:
    """Whether every entry of the block has the two shadows of either class a variance needs."""
    return min(block.sums_in.count.min(), block.sums_out.count.min()) >= 3


def write_log_likelihood_ratio(block: Block, out: np.ndarray) -> None:
    """log N(φ; in) − log N(φ; out) of a block that `is_full`, into `out` [M, w].

    ½·(log(var_out/var_in) + z_out² − z_in²), leave-one-out, with one logarithm an entry.
    """
    for part in rows(*block.centred.shape):
        scores = block.centred[part]
        own = block.members[part].astype(np.float64)
        z_in, var_in = _left_out(scores, own, block.sums_in)
        np.subtract(1.0, own, out=own)
        ratio, var_out = _left_out(scores, own, block.sums_out)
        ratio -= z_in
        var_out /= var_in
        ratio += np.log(var_out, out=var_out)
        ratio *= 0.5
        out[part] = ratio


def _left_out(
    scores: np.ndarray, own: np.ndarray, sums: ClassSums
) -> tuple[np.ndarray, np.ndarray]:
    """z² and variance of entries under one class, `own` 1.0 for those that leave themselves out.

    With q the squared deviation from the full mean and f = n/(n−1) an own entry has the variance
    (SS − q·f)/(n−2) and the squared deviation q·f²; for the others they are SS/(n−1) and q. Both
    are written as the second plus own times the difference: no choice an entry, which is slow.
    """
    n, squares = sums.count, sums.squares
    stretch = n / (n - 1)
    square = scores - sums.mean
    np.square(square, out=square)
    variance = square * (-stretch / (n - 2))
    variance += squares / (n - 2) - squares / (n - 1)
    variance *= own
    variance += squares / (n - 1)
    np.clip(variance, VARIANCE_FLOOR, np.inf, out=variance)
    factor = own * (stretch**2 - 1)
    factor += 1.0
    square *= factor
    square /= variance
    return square, variance
