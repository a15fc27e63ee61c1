"""Leave-one-out moments of every record under members and non-members, in O(M·N).

Every model is the target once and all the others are its shadows, so the moments of entry (m, x)
leave model m's own score out. Each record is centred per class in float64 and the target's own
deviation d is taken back: mean' = mean − d/(n−1), SS' = SS − d²·n/(n−1).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mia_audit.stats.blocks import (
    BLOCK_ENTRIES,
    VARIANCE_FLOOR,
    Block,
    Kind,
    block_at,
    check_matrices,
    degrees,
    leave_one_out_blocks,
)
from mia_audit.stats.threads import column_slices

__all__ = [
    "BLOCK_ENTRIES",
    "VARIANCE_FLOOR",
    "Block",
    "GivenBlock",
    "Kind",
    "Moments",
    "check_matrices",
    "degrees",
    "leave_one_out_blocks",
    "leave_one_out_moments",
    "moment_block",
    "moment_blocks",
]


@dataclass(frozen=True, eq=False)
class Moments:
    """Leave-one-out moments, each [M, N]: float64 means and variances, int32 counts of shadows.

    Variances are floored at `VARIANCE_FLOOR`; a mean is nan without a shadow, a variance with
    fewer than two.
    """

    mean_in: np.ndarray
    var_in: np.ndarray
    n_in: np.ndarray
    mean_out: np.ndarray
    var_out: np.ndarray
    n_out: np.ndarray

    def of_records(self, records: slice | np.ndarray) -> "Moments":
        """Those of some columns."""
        return Moments(*(values[:, records] for values in vars(self).values()))


@dataclass(frozen=True, eq=False)
class GivenBlock:
    """Some columns of given moments, read like a `Block`."""

    columns: slice | np.ndarray
    scores: np.ndarray  # [M, N], like the moments
    moments: Moments

    def left_out(self, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """(score − mean', variance'), each float64 [M, w]."""
        given, at = self.moments, (slice(None), self.columns)
        mean = given.mean_in if kind == "in" else given.mean_out
        variance = given.var_in if kind == "in" else given.var_out
        return self.scores[at] - mean[at], variance[at]

    def effect_signs(self) -> tuple[np.ndarray, np.ndarray]:
        """Where mean_in < mean_out, and where both are known, each bool [M, w]."""
        mean_in = self.moments.mean_in[:, self.columns]
        mean_out = self.moments.mean_out[:, self.columns]
        return mean_in < mean_out, np.isfinite(mean_in + mean_out)

    def shadows(self, kind: Kind) -> np.ndarray:
        """Number of other models of one class, [M, w]."""
        count = self.moments.n_in if kind == "in" else self.moments.n_out
        return count[:, self.columns]


def moment_blocks(
    scores: np.ndarray,
    members: np.ndarray,
    moments: Moments | None = None,
    *,
    entries: int = BLOCK_ENTRIES,
) -> Iterator[Block | GivenBlock]:
    """Column blocks with their left-out deviations, cut from `moments` [M, N] where given."""
    if moments is None:
        yield from leave_one_out_blocks(scores, members, entries=entries)
        return
    check_matrices(scores, members)
    for columns in column_slices(scores.shape, entries):
        yield GivenBlock(columns, scores, moments)


def moment_block(
    scores: np.ndarray,
    members: np.ndarray,
    moments: Moments | None,
    columns: slice | np.ndarray,
) -> Block | GivenBlock:
    """The block of some columns, of checked matrices; `moments` as in `moment_blocks`."""
    if moments is None:
        return block_at(scores, members, columns)
    return GivenBlock(columns, scores, moments)


def leave_one_out_moments(scores: np.ndarray, members: np.ndarray, *, ddof: int = 1) -> Moments:
    """Moments of every entry from the other models, see `Moments` (each [M, N]).

    Equal to recomputing them per target to 1e-6 relative for targets within 1e3 standard
    deviations of their class. ``ddof=0`` is what the LiRA reference code uses. Raises ValueError
    as `check_matrices`, and for scores that are not finite.
    """
    check_matrices(scores, members)
    mean_in, var_in, mean_out, var_out = (np.empty(scores.shape) for _ in range(4))
    n_in, n_out = (np.empty(scores.shape, dtype=np.int32) for _ in range(2))
    for block in leave_one_out_blocks(scores, members):
        at = (slice(None), block.columns)
        deviation, var_in[at] = block.left_out("in", ddof=ddof)
        np.subtract(scores[at], deviation, out=mean_in[at])
        deviation, var_out[at] = block.left_out("out", ddof=ddof)
        np.subtract(scores[at], deviation, out=mean_out[at])
        n_in[at], n_out[at] = block.shadows("in"), block.shadows("out")
    return Moments(mean_in, var_in, n_in, mean_out, var_out, n_out)
