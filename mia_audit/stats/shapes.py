"""What the out shadows say of the shape of a record's scores, for rules that follow it.

Shapes: M models, N records. Leave-one-out throughout: what is said of an entry never depends on
the entry's own score.
"""

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import VARIANCE_FLOOR, Block, leave_one_out_blocks

SHAPES = 3


def shape_covariates(scores: NDArray, members: NDArray[np.bool_]) -> NDArray[np.float32]:
    """[3, M, N] of the out class of each entry: μ/σ, log σ² and skewness.

    Skewness is that of the sample, without a correction for its size. NaN where a class has too
    few shadows. Raises ValueError as `check_matrices`.
    """
    found = np.empty((SHAPES, *scores.shape), dtype=np.float32)
    for block in leave_one_out_blocks(scores, members):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            write_shapes(block, found[:, :, block.columns])
    return found


def write_shapes(block: Block, found: NDArray[np.float32]) -> None:
    """The three covariates of a block into `found` [3, M, w].

    With d the deviation from the mean over all out models, 0 for members: Σd = 0, so what is left
    of Σdᵏ without the entry itself gives the central moments of the others.
    """
    out = ~block.members
    count = block.sums_out.count - out
    own = np.where(out, block.centred - block.sums_out.mean, 0.0)
    square = own * own
    cube = square * own
    second = (square.sum(axis=0) - square) / count
    third = (cube.sum(axis=0) - cube) / count
    mean = own / -count
    central = second - mean * mean
    np.maximum(central, VARIANCE_FLOOR, out=central)
    third -= mean * (3 * second - 2 * mean * mean)
    variance = central * (count / (count - 1))
    found[0] = (mean + (block.origin + block.sums_out.mean)) / np.sqrt(variance)
    found[1] = np.log(variance)
    found[2] = third / (central * np.sqrt(central))
