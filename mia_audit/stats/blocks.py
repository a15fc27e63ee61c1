"""The score matrix in column blocks with the sums of both classes: the shared pass over memory.

M models, w records of a block. A block of scores is held in float64; whatever else is needed is
computed by `rows`, a few models at a time, so that it stays in the processor's cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mia_audit.stats.threads import column_slices

VARIANCE_FLOOR = 1e-12
BLOCK_ENTRIES = 1 << 16
ROW_ENTRIES = 1 << 15

# How often a class's sum of squares may go into the record's before it is summed about its mean.
LARGEST_LOSS = 1e4

Kind = Literal["in", "out"]


@dataclass(frozen=True, eq=False)
class ClassSums:
    """One class of w records: counts, means (from the block's origin), sums of squares, [w].

    The mean of an empty class is nan.
    """

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def variance(self) -> np.ndarray:
        """Variance of the class as a whole, floored; nan with fewer than two models."""
        return np.maximum(self.squares / degrees(self.count, 1), VARIANCE_FLOOR)


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of the score matrix with the sums of both classes.

    `centred` float64 [M, w] is the score minus `origin` [w], the first model's score: a large
    common offset costs no digits and a constant record is exactly zero. Means count from there.
    """

    columns: slice | np.ndarray
    origin: np.ndarray
    centred: np.ndarray
    members: np.ndarray
    sums_in: ClassSums
    sums_out: ClassSums

    def left_out(self, kind: Kind, *, ddof: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(score − mean', variance'), each float64 [M, w], over the other models of one class.

        The variance is floored; both are nan where the class has too few shadows.
        """
        sums = self._sums(kind)
        position = _positions(self.members if kind == "in" else ~self.members)
        stretch = sums.count / np.where(sums.count > 1, sums.count - 1, np.nan)
        deviation = self.centred - sums.mean
        variance = np.square(deviation)
        variance *= _look_up(np.zeros_like(stretch), -stretch, position)
        variance += sums.squares
        variance /= _look_up(degrees(sums.count, ddof), degrees(sums.count - 1, ddof), position)
        deviation *= _look_up(np.ones_like(stretch), stretch, position)
        # clip, not maximum: four times as fast, and nan stays nan.
        return deviation, np.clip(variance, VARIANCE_FLOOR, np.inf, out=variance)

    def effect_signs(self) -> tuple[np.ndarray, np.ndarray]:
        """Where mean_in' < mean_out', and where both are known, each bool [M, w].

        Leaving a score out moves its class's mean away from it, so it is the score that decides.
        """
        effect = self.sums_in.mean - self.sums_out.mean
        highest = self.sums_in.mean + (self.sums_in.count - 1) * effect
        lowest = self.sums_out.mean - (self.sums_out.count - 1) * effect
        negative = np.where(self.members, self.centred > highest, self.centred < lowest)
        return negative, (self.shadows("in") > 0) & (self.shadows("out") > 0)

    def shadows(self, kind: Kind) -> np.ndarray:
        """Number of other models of one class, int32 [M, w]."""
        own = self.members if kind == "in" else ~self.members
        return self._sums(kind).count.astype(np.int32) - own

    def _sums(self, kind: Kind) -> ClassSums:
        return self.sums_in if kind == "in" else self.sums_out


def leave_one_out_blocks(
    scores: np.ndarray, members: np.ndarray, *, entries: int = BLOCK_ENTRIES
) -> Iterator[Block]:
    """The score matrix [M, N] as blocks of about `entries` entries, left to right.

    A block is valid until the next one is asked for: all use the same memory. Raises ValueError as
    `check_matrices`, and for scores that are not finite.
    """
    check_matrices(scores, members)
    parts = column_slices(scores.shape, entries)
    memory = np.empty(len(scores) * (parts[0].stop - parts[0].start) if parts else 0)
    for columns in parts:
        width = columns.stop - columns.start
        centred = memory[: len(scores) * width].reshape(len(scores), width)
        yield _block(scores[:, columns], members[:, columns], columns, centred)


def block_at(scores: np.ndarray, members: np.ndarray, columns: slice | np.ndarray) -> Block:
    """The block of some columns of [M, N], in memory of its own; of checked matrices."""
    chosen, own = scores[:, columns], members[:, columns]
    if not isinstance(columns, slice):  # picked columns come out column by column
        chosen, own = np.ascontiguousarray(chosen), np.ascontiguousarray(own)
    return _block(chosen, own, columns, np.empty(chosen.shape))


def rows(num_models: int, width: int) -> Iterator[slice]:
    """Slices of a block's rows with about ROW_ENTRIES entries each."""
    step = max(1, ROW_ENTRIES // width)
    return (slice(start, min(start + step, num_models)) for start in range(0, num_models, step))


def _positions(own: np.ndarray) -> np.ndarray:
    """Where each entry finds its value in a table of `_look_up`, intp [M, w]."""
    return np.add(own, 2 * np.arange(own.shape[1]), dtype=np.intp)


def _look_up(otherwise: np.ndarray, own: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Per-record values [w] laid out as [M, w]: `own` where the position came from True.

    A table look-up, since np.where takes several times as long on a random mask.
    """
    return np.stack([otherwise, own], axis=1).ravel().take(position, mode="clip")


def degrees(count: np.ndarray, ddof: int) -> np.ndarray:
    """n − ddof, nan where a variance has fewer than two shadows."""
    return np.where(count >= 2, count - ddof, np.nan)


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
        raise ValueError(f"scores must be floating-point, not {scores.dtype}: convert them.")


def _block(
    scores: np.ndarray, members: np.ndarray, columns: slice | np.ndarray, centred: np.ndarray
) -> Block:
    """Fill `centred` and sum both classes in one pass, in two where one would lose digits."""
    origin = scores[0].astype(np.float64)
    count_in, total_in, total, square_in, square = np.zeros((5, len(origin)))
    for part in rows(*centred.shape):
        values, inside = centred[part], members[part].astype(np.float64)
        np.copyto(values, scores[part])
        values -= origin
        count_in += inside.sum(axis=0)
        total += values.sum(axis=0)
        square += np.einsum("mx,mx->x", values, values)
        inside *= values
        total_in += inside.sum(axis=0)
        square_in += np.einsum("mx,mx->x", values, inside)
    if not np.isfinite(square).all():
        at = int(np.flatnonzero(~np.isfinite(square))[0])
        bad = columns.start + at if isinstance(columns, slice) else columns[at]
        raise ValueError(f"scores of record {bad} are not finite: drop or replace nan and inf.")
    classes = [
        _class_sums(count_in, total_in, square_in),
        _class_sums(len(scores) - count_in, total - total_in, square - square_in),
    ]
    if any((square > LARGEST_LOSS * sums.squares).any() for sums in classes):
        classes = [_sums_in_two_passes(centred, own) for own in (members, ~members)]
    return Block(columns, origin, centred, members, *classes)


def _class_sums(count: np.ndarray, total: np.ndarray, square: np.ndarray) -> ClassSums:
    mean = total / np.where(count > 0, count, np.nan)
    return ClassSums(count, mean, square - np.where(count > 0, total * mean, 0.0))


def _sums_in_two_passes(centred: np.ndarray, own: np.ndarray) -> ClassSums:
    weight = own.astype(np.float64)
    count = weight.sum(axis=0)
    mean = np.einsum("mx,mx->x", centred, weight) / np.where(count > 0, count, np.nan)
    residual = centred - np.where(count > 0, mean, 0.0)
    return ClassSums(count, mean, np.einsum("mx,mx,mx->x", residual, residual, weight))
