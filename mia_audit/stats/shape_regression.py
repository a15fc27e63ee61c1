"""A cut-off for every entry from the shape of its record, by quantile regression over records.

Shapes: M models, N records, K covariates. The regression is cross-fitted over records, so that a
record's own scores never move the cut-off that it is judged by.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import VARIANCE_FLOOR
from mia_audit.stats.quantile_regression import Basis, Tail, cross_fitted

FOLDS = 4
NEAR_SHARE = 8  # times the level: how much of the upper tail is fitted entry by entry
MOST_NEAR, MOST_BELOW, MOST_MARKED = 30_000, 10_000, 30_000  # entries taken of more
FEWEST_ABOVE = 10  # expected entries above the quantile for each column, else no regression
FEWEST_RECORDS = 8  # else some fold is fitted on next to nothing
BLOCK_ENTRIES = 1 << 16


@dataclass(eq=False)
class ShapeRegression:
    """Quantiles of `z` [M, N] over the entries of `outside`, given `covariates` [K, M, N].

    The second covariate is log σ². Entries whose shadows do not differ have no shape: they are
    left out of the regression and judged by the quantile of all scores.
    """

    z: NDArray
    covariates: NDArray[np.float32]
    outside: NDArray[np.bool_]

    def margin(self, level: float) -> NDArray:
        """z less the upper `level` quantile of its record's shape, [M, N]; −∞ up to the `floor`.

        z itself where there are too few scores to fit to.
        """
        if not self.is_rich(level):
            return self.z
        margin = np.full(self.z.shape, -np.inf)
        margin[np.isnan(self.z)] = np.nan
        z, found, flat = self.z.ravel(), margin.ravel(), self._flat
        weights, width = self.weights(level), self.z.shape[1]
        # Scores that tie would be accused for their shape alone: not at the floor itself, and not
        # at or below the mean of their own out scores where a rare quantile is asked for.
        least = max(self.floor(level), 0.0) if level < 0.5 else self.floor(level)
        candidates = np.flatnonzero((z > least) & ~self.shapeless.ravel())
        for start in range(0, len(candidates), BLOCK_ENTRIES):
            at = candidates[start : start + BLOCK_ENTRIES]
            surface = self.basis.surface(flat[:, at], weights[:, self.fold[at % width]])
            found[at] = z[at] - surface
        plain = np.quantile(self.z[self.outside], 1 - level)
        margin[self.shapeless] = self.z[self.shapeless] - plain
        return margin

    def quantile(self, covariates: NDArray[np.float32], level: float) -> NDArray[np.float32]:
        """The upper `level` quantile [N] of z for covariates [K, N] of the same records."""
        return self.basis.surface(covariates, self.weights(level)[:, self.fold])

    def floor(self, level: float) -> float:
        """The least z of which a hit is thought possible: below it nothing is fitted closely."""
        return float(self.z.ravel()[self.ranked[self._split(level)]])

    def weights(self, level: float) -> NDArray[np.float32]:
        """[P, F] of the regression in each fold."""
        return cross_fitted(self._tail(level), level).T.astype(np.float32)

    def is_rich(self, level: float) -> bool:
        """Whether enough scores are expected above the quantile for a regression."""
        size = len(self.ranked)
        if size == 0 or self.z.shape[1] < FEWEST_RECORDS:
            return False
        return level * size >= FEWEST_ABOVE * self.basis.num_columns

    @cached_property
    def shapeless(self) -> NDArray[np.bool_]:
        """[M, N] where the out shadows of an entry do not differ."""
        return self.covariates[1] <= np.log(2 * VARIANCE_FLOOR)

    @cached_property
    def ranked(self) -> NDArray[np.int64]:
        """Flat positions of the out entries that have a shape, by ascending z."""
        position = np.flatnonzero(self.outside & ~self.shapeless)
        return position[np.argsort(self.z.ravel()[position])]

    @cached_property
    def basis(self) -> Basis:
        """Splines in units of the out entries."""
        return Basis.of(self._flat[:, thinned(self.ranked, MOST_MARKED)])

    @cached_property
    def fold(self) -> NDArray[np.int64]:
        """[N] fold of each record, dealt out in the order of the first covariate.

        So it depends on what a record is like, and not on where it stands.
        """
        valid = ~np.isnan(self.z)
        total = np.where(valid, self.covariates[0], 0).sum(axis=0, dtype=np.float64)
        typical = total / np.where(valid.any(axis=0), valid.sum(axis=0), np.nan)  # nan comes last
        fold = np.empty(len(typical), dtype=np.int64)
        fold[np.argsort(typical)] = np.arange(len(typical)) % FOLDS
        return fold

    @property
    def _flat(self) -> NDArray:
        return self.covariates.reshape(len(self.covariates), -1)

    def _split(self, level: float) -> int:
        return len(self.ranked) - min(
            len(self.ranked), round(NEAR_SHARE * level * len(self.ranked))
        )

    def _tail(self, level: float) -> Tail:
        """What the regression reads: evenly thinned by rank, so that the order does not matter."""
        far, near = np.split(self.ranked, [self._split(level)])
        taken, few = thinned(near, MOST_NEAR), thinned(far, MOST_BELOW)
        fold = np.concatenate([self.fold[part % self.z.shape[1]] for part in (taken, few)])
        weight = np.concatenate([np.full(len(taken), len(near) / max(len(taken), 1)),
                                 np.full(len(few), len(far) / max(len(few), 1))])  # fmt: skip
        design = self.basis.design(self._flat[:, np.concatenate([taken, few])])
        size = len(taken)
        below = np.zeros((FOLDS, design.shape[1]))
        for k in range(FOLDS):
            chosen = fold[size:] == k
            below[k] = weight[size:][chosen] @ design[size:][chosen]
        return Tail(
            design[:size],
            self.z.ravel()[taken],
            weight[:size],
            fold[:size],
            below,
            np.bincount(fold, weight, minlength=FOLDS).astype(np.float64),
        )


def thinned(positions: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Every k-th of them, so that at most `most` are left."""
    step = -(-len(positions) // most) if len(positions) else 1
    return positions[step // 2 :: step]
