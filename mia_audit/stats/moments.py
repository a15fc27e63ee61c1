"""Leave-one-out moments of every record under members and non-members, in O(M·N).

Every model is the target once and all the others are its shadows, so the moments of entry (m, x)
leave model m's own score out. Each record is centred per class in float64 and the target's own
deviation d is taken back: mean' = mean − d/(n−1), SS' = SS − d²·n/(n−1).

The work goes in column blocks: beside inputs and outputs only a few blocks are held.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

VARIANCE_FLOOR = 1e-12
BLOCK_ENTRIES = 1 << 16

Kind = Literal["in", "out"]


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


@dataclass(frozen=True, eq=False)
class ClassSums:
    """One class of w records: counts, means (from the block's origin), sums of squares, [w]."""

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of the score matrix with the sums of both classes.

    `centred` float64 [M, w] is the score minus `origin` [w] (the first model's score), so that a
    large common offset costs no digits and a constant record is exactly zero.
    """

    columns: slice
    origin: np.ndarray
    centred: np.ndarray
    members: np.ndarray
    sums_in: ClassSums
    sums_out: ClassSums

    def left_out(self, kind: Kind, *, ddof: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(score − mean', variance'), each float64 [M, w], over the other models of one class.

        The variance is floored; both are nan where the class has too few shadows.
        """
        own = self.members if kind == "in" else ~self.members
        sums = self.sums_in if kind == "in" else self.sums_out
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch = np.where(sums.count > 1, sums.count / (sums.count - 1), np.nan)
        deviation = self.centred - sums.mean
        down_date = deviation * deviation
        down_date *= np.where(own, stretch, 0.0)
        variance = np.subtract(sums.squares, down_date, out=down_date)
        variance /= np.where(own, _divisor(sums.count - 1, ddof), _divisor(sums.count, ddof))
        np.maximum(variance, VARIANCE_FLOOR, out=variance)
        deviation *= np.where(own, stretch, 1.0)
        return deviation, variance

    def shadows(self, kind: Kind) -> np.ndarray:
        """Number of other models of one class, int32 [M, w]."""
        sums = self.sums_in if kind == "in" else self.sums_out
        own = self.members if kind == "in" else ~self.members
        return sums.count.astype(np.int32) - own


def leave_one_out_blocks(scores: np.ndarray, members: np.ndarray) -> Iterator[Block]:
    """The score matrix [M, N] as column blocks, left to right. ValueErrors as `check_matrices`."""
    check_matrices(scores, members)
    num_models, num_records = scores.shape
    width = max(1, BLOCK_ENTRIES // num_models)
    for start in range(0, num_records, width):
        columns = slice(start, min(start + width, num_records))
        yield _block(scores[:, columns], members[:, columns], columns)


def leave_one_out_moments(scores: np.ndarray, members: np.ndarray, *, ddof: int = 1) -> Moments:
    """Moments of every entry from the other models, see `Moments` (each [M, N]).

    Equal to recomputing them per target to 1e-6 relative for targets within 1e3 standard
    deviations of their class. ``ddof=0`` is what the LiRA reference code uses. Raises ValueError
    as `check_matrices`.
    """
    check_matrices(scores, members)
    reals = [np.empty(scores.shape) for _ in range(4)]
    counts = [np.empty(scores.shape, dtype=np.int32) for _ in range(2)]
    mean_in, var_in, mean_out, var_out = reals
    for block in leave_one_out_blocks(scores, members):
        at = (slice(None), block.columns)
        values = block.centred + block.origin
        deviation, var_in[at] = block.left_out("in", ddof=ddof)
        np.subtract(values, deviation, out=mean_in[at])
        deviation, var_out[at] = block.left_out("out", ddof=ddof)
        np.subtract(values, deviation, out=mean_out[at])
        counts[0][at], counts[1][at] = block.shadows("in"), block.shadows("out")
    return Moments(mean_in, var_in, counts[0], mean_out, var_out, counts[1])


def check_matrices(scores: np.ndarray, members: np.ndarray) -> None:
    """Raise ValueError unless scores are real [M, N] and members bool of the same shape."""
    if np.ndim(scores) != 2 or np.shape(scores) != np.shape(members):
        raise ValueError(
            f"scores {np.shape(scores)} and members {np.shape(members)} must both be [models, "
            "records]: pass two matrices of one shape."
        )
    if members.dtype != bool:
        raise ValueError(f"members must be a boolean matrix, not {members.dtype}: compare it to 1.")
    if not np.issubdtype(scores.dtype, np.floating):
        raise ValueError(
            f"scores must be floating-point numbers, not {scores.dtype}: convert them."
        )


def _block(scores: np.ndarray, members: np.ndarray, columns: slice) -> Block:
    origin = scores[0].astype(np.float64)
    centred = np.subtract(scores, origin, dtype=np.float64)
    weight = members.astype(np.float64)
    sums_in = _class_sums(centred, weight, columns)
    np.subtract(1.0, weight, out=weight)
    return Block(columns, origin, centred, members, sums_in, _class_sums(centred, weight, columns))


def _class_sums(centred: np.ndarray, weight: np.ndarray, columns: slice) -> ClassSums:
    """Sums over the models of weight 1; the mean of an empty class is nan."""
    count = weight.sum(axis=0)
    total = np.einsum("mx,mx->x", centred, weight)
    if not np.isfinite(total).all():
        bad = columns.start + int(np.flatnonzero(~np.isfinite(total))[0])
        raise ValueError(f"scores of record {bad} are not finite: drop or replace nan and inf.")
    mean = total / np.where(count > 0, count, np.nan)
    deviation = centred - np.where(count > 0, mean, 0.0)
    return ClassSums(count, mean, np.einsum("mx,mx,mx->x", deviation, deviation, weight))


def _divisor(count: np.ndarray, ddof: int) -> np.ndarray:
    """n − ddof, nan where a variance has fewer than two shadows."""
    return np.where(count >= 2, count - ddof, np.nan)
