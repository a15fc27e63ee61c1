"""What the out shadows say of the shape of a record's scores, for rules that follow it.

Shapes: M models, N records. Leave-one-out throughout: what is said of an entry never depends on
the entry's own score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import (
    BLOCK_ENTRIES,
    VARIANCE_FLOOR,
    Block,
    block_at,
    check_matrices,
)
from mia_audit.stats.threads import column_slices, in_threads

SHAPES = 3


def shape_covariates(scores: NDArray, members: NDArray[np.bool_]) -> NDArray[np.float32]:
    """[3, M, N] of the out class of each entry: μ/σ, log σ² and skewness.

    Skewness is that of the sample, without a correction for its size. NaN where a class has too
    few shadows. Raises ValueError as `check_matrices`.
    """
    check_matrices(scores, members)
    found = np.empty((SHAPES, *scores.shape), dtype=np.float32)

    def write(columns: slice) -> None:
        write_shapes(block_at(scores, members, columns), found[:, :, columns])

    in_threads(write, column_slices(scores.shape, BLOCK_ENTRIES))
    return found


def write_shapes(block: Block, found: NDArray[np.float32]) -> None:
    """The covariates of a block into `found` [3, M, w], or the first of them into [1, M, w]."""
    sums = OutSums.of(block)
    sums.write(sums.deviations(block), ~block.members, slice(None), found)


@dataclass(frozen=True, eq=False)
class OutSums:
    """Of the out class of w records: models, mean, Σd² and Σd³ with d the deviations from it, [w].

    Σd = 0, so what is left of Σdᵏ without the entry itself gives the others' central moments.
    """

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    cubes: NDArray[np.float64]
    largest: NDArray[np.float64]  # of d²

    @classmethod
    def of(cls, block: Block) -> "OutSums":
        own = cls.deviations(block)
        square = own * own
        squares, largest = square.sum(axis=0), square.max(axis=0)
        cubes = np.einsum("mx,mx->x", square, own)
        mean = block.origin + block.sums_out.mean
        return cls(block.sums_out.count, mean, squares, cubes, largest)

    @staticmethod
    def deviations(block: Block) -> NDArray[np.float64]:
        """d of each entry, 0 for members, [M, w]."""
        return np.where(block.members, 0.0, block.centred - block.sums_out.mean)

    def may_be_shapeless(self) -> NDArray[np.bool_]:
        """[w] records of which some entry's shadows might not differ."""
        return ~(self.squares - 2 * self.largest > 4 * VARIANCE_FLOOR * self.count)

    def write(
        self, own: NDArray, out: NDArray[np.bool_], records: slice | NDArray, found: NDArray
    ) -> None:
        """The covariates of entries with deviations `own`, `out` where they are of the class, of
        the records at `records`; all broadcast to one of `found` [3, …], or the first to [1, …].
        """
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            count = self.count[records] - out
            square = own * own
            second = (self.squares[records] - square) / count
            mean = own / -count
            central = second - mean * mean
            np.maximum(central, VARIANCE_FLOOR, out=central)
            variance = central * (count / (count - 1))
            found[0] = (mean + self.mean[records]) / np.sqrt(variance)
            if len(found) == 1:
                return
            third = (self.cubes[records] - square * own) / count
            third -= mean * (3 * second - 2 * mean * mean)
            found[1] = np.log(variance)
            found[2] = third / (central * np.sqrt(central))
