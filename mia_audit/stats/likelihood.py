"""The kernel of online LiRA: a block's log-likelihood ratios in few passes over memory.

An entry leaves its own score out of its own class only; of the other class every shadow counts.
So each entry has its own variance in one class and its column's in the other.
"""

import numpy as np

from mia_audit.stats.moments import VARIANCE_FLOOR, Block, degrees


def log_likelihood_ratio(block: Block) -> np.ndarray:
    """log N(φ; in) − log N(φ; out) of a block, float64 [M, w]; uses the block up.

    ½·s·(z_other² − z_own² − log(var_own/var_other)), s = 1 for members, −1 for the rest; nan where
    either class has fewer than two shadows. The result lies in the block's scratch.
    """
    result, variance, table = block.scratch
    own = _own_class(block)
    block.spread(block.sums_in.mean, block.sums_out.mean, out=table)
    np.subtract(block.centred, table, out=result)
    np.square(result, out=result)
    block.spread(1 / block.sums_in.variance(), 1 / block.sums_out.variance(), out=table)
    result *= table
    result -= own
    variance *= table
    result -= np.log(variance, out=variance)
    half = np.full(len(block.origin), 0.5)
    result *= block.spread(-half, half, out=table)
    return result


def _own_class(block: Block) -> np.ndarray:
    """z² of each entry in its own class, its variance there left in the second scratch array.

    With q the squared deviation from the full mean and f = n/(n−1), leaving out gives the variance
    (SS − q·f)/(n−2) and the squared deviation q·f².
    """
    square, (_, variance, table) = block.own_square, block.scratch
    left_in, left_out = degrees(block.sums_in.count - 1, 1), degrees(block.sums_out.count - 1, 1)
    stretch_in, stretch_out = (left_in + 2) / (left_in + 1), (left_out + 2) / (left_out + 1)
    square *= block.spread(stretch_out / left_out, stretch_in / left_in, out=table)
    block.spread(block.sums_out.squares / left_out, block.sums_in.squares / left_in, out=variance)
    variance -= square
    np.clip(variance, VARIANCE_FLOOR, np.inf, out=variance)
    square /= variance
    square *= block.spread(stretch_out * left_out, stretch_in * left_in, out=table)
    return square
