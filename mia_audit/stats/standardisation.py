"""Standardised scores: each record in units of its own out class, leave-one-out.

Shapes: M models, N records. `members` bool [M, N], True where the record was in the training set.
Higher score = more likely a member. Source: arXiv 2605.25819 (post-processing).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.moments import BLOCK_ENTRIES, Block, Moments, leave_one_out_blocks


def moment_blocks(
    scores: NDArray, members: NDArray[np.bool_], moments: Moments | None = None
) -> Iterator[tuple[slice, Moments]]:
    """Leave-one-out moments by blocks of records: cut from `moments` [M, N] where given."""
    if moments is None:
        for block in leave_one_out_blocks(scores, members):
            yield block.columns, _moments_of(block)
        return
    width = max(1, BLOCK_ENTRIES // scores.shape[0])
    for start in range(0, scores.shape[1], width):
        columns = slice(start, min(start + width, scores.shape[1]))
        yield (
            columns,
            Moments(
                moments.mean_in[:, columns],
                moments.var_in[:, columns],
                moments.n_in[:, columns],
                moments.mean_out[:, columns],
                moments.var_out[:, columns],
                moments.n_out[:, columns],
            ),
        )


def _moments_of(block: Block) -> Moments:
    values = block.centred + block.origin
    deviation_in, var_in = block.left_out("in")
    deviation_out, var_out = block.left_out("out")
    return Moments(
        values - deviation_in,
        var_in,
        block.shadows("in"),
        values - deviation_out,
        var_out,
        block.shadows("out"),
    )


def standardise_block(scores: NDArray, moments: Moments) -> NDArray[np.float64]:
    """(score − out mean) / out sd with the moments of the same entries."""
    return (scores - moments.mean_out) / np.sqrt(moments.var_out)


def standardise(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    direction: str = "positive",
    moments: Moments | None = None,
) -> NDArray[np.float64]:
    """Scores [M, N] → standardised scores z [M, N], each record in units of its own out class.

    z = (score − μ_out)/σ_out, leave-one-out. `direction="estimated"` multiplies by the sign of the
    estimated effect μ_in − μ_out (arXiv 2605.25819), which inflates false positives where there is
    no effect; `"positive"` takes membership to raise the score. Entries with fewer than two out
    shadows (and, for `estimated`, no in shadow) are NaN.
    Raises ValueError for an unknown direction, and as `check_matrices`.
    """
    if direction not in ("positive", "estimated"):
        raise ValueError(f"direction is {direction!r}; choose 'positive' or 'estimated'.")
    z = np.empty(scores.shape)
    for columns, block in moment_blocks(scores, members, moments):
        part = standardise_block(scores[:, columns], block)
        if direction == "estimated":
            part = np.where(block.mean_in < block.mean_out, -part, part)
            part[np.isnan(block.mean_in)] = np.nan
        z[:, columns] = part
    return z
