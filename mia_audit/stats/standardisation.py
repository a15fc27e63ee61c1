"""Standardised scores: each record in units of its own out class, leave-one-out.

Shapes: M models, N records. `members` bool [M, N], True where the record was in the training set.
Higher score = more likely a member. Source: arXiv 2605.25819 (post-processing).
"""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mia_audit.stats.likelihood import class_is_regular, standardised_out
from mia_audit.stats.moments import (
    BLOCK_ENTRIES,
    Block,
    GivenBlock,
    Moments,
    check_matrices,
    moment_block,
)
from mia_audit.stats.threads import column_slices, in_threads


def standardise(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    direction: str = "positive",
    moments: Moments | None = None,
    dtype: DTypeLike = np.float64,
) -> NDArray:
    """Scores [M, N] → standardised scores z [M, N], each record in units of its own out class.

    z = (score − μ_out)/σ_out, leave-one-out, computed in float64 and stored as `dtype`.
    `direction="estimated"` multiplies by the sign of the estimated effect μ_in − μ_out
    (arXiv 2605.25819), which inflates false positives where there is no effect; `"positive"` takes
    membership to raise the score. Entries with fewer than two out shadows (and, for `estimated`,
    no in shadow) are NaN.
    Raises ValueError for an unknown direction, and as `check_matrices`.
    """
    if direction not in ("positive", "estimated"):
        raise ValueError(f"direction is {direction!r}; choose 'positive' or 'estimated'.")
    check_matrices(scores, members)
    z = np.empty(scores.shape, dtype=dtype)

    def write(columns: slice) -> None:
        block = moment_block(scores, members, moments, columns)
        z[:, columns] = standardised_block(block, direction)

    in_threads(write, column_slices(scores.shape, BLOCK_ENTRIES))
    return z


def standardised_block(block: Block | GivenBlock, direction: str) -> NDArray[np.float64]:
    """z of a block, [M, w]."""
    if isinstance(block, Block) and class_is_regular(block.sums_out):
        z = standardised_out(block)
    else:
        deviation, variance = block.left_out("out")
        z = deviation / np.sqrt(variance)
    if direction == "estimated":
        negative, known = block.effect_signs()
        np.negative(z, out=z, where=negative)
        z[~known] = np.nan
    return z
