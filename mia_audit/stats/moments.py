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

    def variance(self) -> np.ndarray:
        """Variance of the class as a whole, floored; nan with fewer than two models."""
        return np.maximum(self.squares / degrees(self.count, 1), VARIANCE_FLOOR)


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of the score matrix with the sums of both classes; valid until the next block.

    `centred` is the score minus `origin` [w] (the first model's score), so that a large common
    offset costs no digits and a constant record is exactly zero. `own_square` is the squared
    deviation from the mean of the entry's own class. Both float64 [M, w], like the three `scratch`
    arrays, free to overwrite.
    """

    columns: slice
    origin: np.ndarray
    centred: np.ndarray
    own_square: np.ndarray
    position: np.ndarray  # intp [M, w], see `spread`
    scratch: tuple[np.ndarray, ...]
    sums_in: ClassSums
    sums_out: ClassSums

    def spread(
        self, own_out: np.ndarray, own_in: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Per-record values [w] laid out as [M, w]: `own_in` for members, else `own_out`."""
        table = np.stack([own_out, own_in], axis=1).ravel()
        # A table look-up: np.where on a random mask is ten times slower.
        return table.take(self.position, out=out, mode="clip")

    def left_out(self, kind: Kind, *, ddof: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(score − mean', variance'), each float64 [M, w], over the other models of one class.

        The variance is floored; both are nan where the class has too few shadows.
        """
        sums = self.sums(kind)
        stretch = sums.count / np.where(sums.count > 1, sums.count - 1, np.nan)
        deviation = self.centred - sums.mean
        variance = np.square(deviation)
        variance *= self._own_or_other(kind, -stretch, np.zeros_like(stretch))
        variance += sums.squares
        variance /= self._own_or_other(
            kind, degrees(sums.count - 1, ddof), degrees(sums.count, ddof)
        )
        deviation *= self._own_or_other(kind, stretch, np.ones_like(stretch))
        # clip, not maximum: four times as fast, and nan stays nan.
        return deviation, np.clip(variance, VARIANCE_FLOOR, np.inf, out=variance)

    def shadows(self, kind: Kind) -> np.ndarray:
        """Number of other models of one class, int32 [M, w]."""
        count = self.sums(kind).count.astype(np.int32)
        return self._own_or_other(kind, count - 1, count)

    def sums(self, kind: Kind) -> ClassSums:
        return self.sums_in if kind == "in" else self.sums_out

    def _own_or_other(self, kind: Kind, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        """`own` where the entry is itself of this class, else `other`."""
        return self.spread(other, own) if kind == "in" else self.spread(own, other)


@dataclass(frozen=True, eq=False)
class GivenBlock:
    """Some columns of given moments, read like a `Block`."""

    columns: slice
    scores: np.ndarray  # [M, N], like the moments
    moments: Moments

    def left_out(self, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """(score − mean', variance'), each float64 [M, w]."""
        mean, variance = getattr(self.moments, f"mean_{kind}"), getattr(self.moments, f"var_{kind}")
        at = (slice(None), self.columns)
        return self.scores[at] - mean[at], variance[at]

    def shadows(self, kind: Kind) -> np.ndarray:
        """Number of other models of one class, [M, w]."""
        return getattr(self.moments, f"n_{kind}")[:, self.columns]


def leave_one_out_blocks(scores: np.ndarray, members: np.ndarray) -> Iterator[Block]:
    """The score matrix [M, N] as column blocks, left to right. ValueErrors as `check_matrices`."""
    check_matrices(scores, members)
    num_models, num_records = scores.shape
    width = min(max(1, BLOCK_ENTRIES // num_models), num_records)
    # The same memory for every block: fresh arrays would cost a page fault per 4 kB.
    work = [np.empty((num_models, width)) for _ in range(5)]
    position = np.empty((num_models, width), dtype=np.intp)
    for start in range(0, num_records, width):
        columns = slice(start, min(start + width, num_records))
        shaped = [_leading(array, columns.stop - start) for array in (position, *work)]
        yield _block(scores[:, columns], members[:, columns], columns, *shaped)


def moment_blocks(
    scores: np.ndarray, members: np.ndarray, moments: Moments | None = None
) -> Iterator["Block | GivenBlock"]:
    """Column blocks with their left-out deviations, cut from `moments` [M, N] where given."""
    if moments is None:
        yield from leave_one_out_blocks(scores, members)
        return
    check_matrices(scores, members)
    width = max(1, BLOCK_ENTRIES // len(scores))
    for start in range(0, scores.shape[1], width):
        yield GivenBlock(slice(start, min(start + width, scores.shape[1])), scores, moments)


def _leading(array: np.ndarray, width: int) -> np.ndarray:
    """The start of a work array's memory as a contiguous [M, width] array."""
    return array.ravel()[: len(array) * width].reshape(len(array), width)


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


def _block(
    scores: np.ndarray,
    members: np.ndarray,
    columns: slice,
    position: np.ndarray,
    centred: np.ndarray,
    own_square: np.ndarray,
    *scratch: np.ndarray,
) -> Block:
    """Fill the work arrays with one block: centre, sum both classes, square what is left."""
    inside, outside = scratch[:2]
    origin = scores[0].astype(np.float64)
    np.copyto(centred, scores)
    centred -= origin
    np.copyto(inside, members)
    np.subtract(1.0, inside, out=outside)
    np.add(members, 2 * np.arange(len(origin)), out=position)
    count_in, count_out = inside.sum(axis=0), outside.sum(axis=0)
    mean_in = _weighted_sum(centred, inside, columns) / np.where(count_in > 0, count_in, np.nan)
    mean_out = _weighted_sum(centred, outside, columns) / np.where(count_out > 0, count_out, np.nan)
    squares_in, squares_out = np.empty_like(count_in), np.empty_like(count_out)
    sums_in = ClassSums(count_in, mean_in, squares_in)
    sums_out = ClassSums(count_out, mean_out, squares_out)
    block = Block(columns, origin, centred, own_square, position, scratch, sums_in, sums_out)
    np.subtract(centred, block.spread(mean_out, mean_in, out=own_square), out=own_square)
    np.square(own_square, out=own_square)
    np.einsum("mx,mx->x", own_square, inside, out=squares_in)
    np.einsum("mx,mx->x", own_square, outside, out=squares_out)
    return block


def _weighted_sum(centred: np.ndarray, weight: np.ndarray, columns: slice) -> np.ndarray:
    total = np.einsum("mx,mx->x", centred, weight)
    if not np.isfinite(total).all():
        bad = columns.start + int(np.flatnonzero(~np.isfinite(total))[0])
        raise ValueError(f"scores of record {bad} are not finite: drop or replace nan and inf.")
    return total


def degrees(count: np.ndarray, ddof: int) -> np.ndarray:
    """n − ddof, nan where a variance has fewer than two shadows."""
    return np.where(count >= 2, count - ddof, np.nan)
