"""A cut-off for every entry from the shape of its record, by quantile regression over records.

Shapes: M models, N records, K covariates. The regression is cross-fitted over records, so that a
record's own scores never move the cut-off that it is judged by.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import VARIANCE_FLOOR
from mia_audit.stats.quantile_regression import Basis, Tail, cross_fitted

FOLDS = 4
NEAR_SHARE = 8  # times the level: how much of the upper tail is fitted entry by entry
MOST_NEAR, MOST_BELOW, MOST_MARKED = 30_000, 10_000, 30_000  # entries taken of more
FEWEST_ABOVE = 10  # expected entries above the quantile for each column, else no regression
FEWEST_RECORDS = 8  # else some fold is fitted on next to nothing


class Fit(NamedTuple):
    """What is fitted for one level: the quantile of all, the least candidate, weights [P, F]."""

    plain: float
    floor: float
    weights: NDArray[np.float32]


@dataclass(eq=False)
class ShapeRegression:
    """Quantiles of `z` [M, N] over the entries of `outside`, given `covariates` [K, M, N].

    The second covariate is log σ². Entries whose shadows do not differ have no shape: they are
    left out of the regression and judged by the quantile of all scores. `fold` [N] is that of
    `folds_of` where these records are some of many.
    """

    z: NDArray
    covariates: NDArray[np.float32]
    outside: NDArray[np.bool_]
    fold: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    _fits: dict[float, Fit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.fold.size:
            self.fold = folds_of(typical_covariate(self.covariates[0], ~np.isnan(self.z)))

    def margin(self, level: float) -> NDArray:
        """`margin_of` what it is fitted to; z itself where there are too few scores to fit to."""
        if not self.is_rich(level):
            return self.z
        return self.margin_of(self.z, self.covariates, self.fold, level)

    def margin_of(
        self, z: NDArray, covariates: NDArray[np.float32], fold: NDArray[np.int64], level: float
    ) -> NDArray:
        """z [M, w] less the upper `level` quantile of its record's shape; −∞ up to the `floor`."""
        margin = np.full(z.shape, -np.inf, dtype=z.dtype)
        margin[np.isnan(z)] = np.nan
        shapeless, flat = is_shapeless(covariates), covariates.reshape(len(covariates), -1)
        candidates = np.flatnonzero((z > self.least(level)) & ~shapeless)
        values = z.ravel()[candidates]
        margin.ravel()[candidates] = values - self.heights(
            flat[:, candidates], fold[candidates % z.shape[1]], level
        )
        margin[shapeless] = z[shapeless] - self.plain_quantile(level)
        return margin

    def least(self, level: float) -> float:
        """Only above this z is a quantile worth computing.

        Scores that tie would be accused for their shape alone: not at the floor itself, and not
        at or below the mean of their own out scores where a rare quantile is asked for.
        """
        return max(self.floor(level), 0.0) if level < 0.5 else self.floor(level)

    def heights(
        self, covariates: NDArray[np.float32], fold: NDArray[np.int64], level: float
    ) -> NDArray[np.float32]:
        """The upper `level` quantile of z of n entries with covariates [K, n] and folds [n]."""
        heights = np.empty(len(fold), dtype=np.float32)
        for k, weights in enumerate(self.weights(level).T):
            chosen = fold == k
            heights[chosen] = self.basis.surface(covariates[:, chosen], weights)
        return heights

    def plain_quantile(self, level: float) -> float:
        """The upper `level` quantile of all out scores."""
        return self._of_level(level).plain

    def floor(self, level: float) -> float:
        """The least z of which a hit is thought possible: below it nothing is fitted closely."""
        return self._of_level(level).floor

    def weights(self, level: float) -> NDArray[np.float32]:
        """[P, F] of the regression in each fold."""
        return self._of_level(level).weights

    def _of_level(self, level: float) -> Fit:
        if level not in self._fits:
            self._fits[level] = Fit(
                float(np.quantile(self.z[self.outside], 1 - level)),
                float(self.z.ravel()[self.ranked[self._split(level)]]),
                cross_fitted(self._tail(level), level).T.astype(np.float32),
            )
        return self._fits[level]

    def is_rich(self, level: float) -> bool:
        """Whether enough scores are expected above the quantile for a regression."""
        size = len(self.ranked)
        if size == 0 or self.z.shape[1] < FEWEST_RECORDS:
            return False
        return level * size >= FEWEST_ABOVE * self.basis.num_columns

    @cached_property
    def ranked(self) -> NDArray[np.int64]:
        """Flat positions of the out entries that have a shape, by ascending z."""
        position = np.flatnonzero(self.outside & ~is_shapeless(self.covariates))
        return position[np.argsort(self.z.ravel()[position])]

    @cached_property
    def basis(self) -> Basis:
        """Splines in units of the out entries."""
        return Basis.of(self._flat[:, thinned(self.ranked, MOST_MARKED)])

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


def is_shapeless(covariates: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Where the out shadows of an entry do not differ."""
    return covariates[1] <= np.log(2 * VARIANCE_FLOOR)


def typical_covariate(
    covariate: NDArray[np.float32], valid: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """[w] mean over a record's valid entries; nan without any."""
    total = np.where(valid, covariate, 0).sum(axis=0, dtype=np.float64)
    return total / np.where(valid.any(axis=0), valid.sum(axis=0), np.nan)


def folds_of(typical: NDArray[np.float64]) -> NDArray[np.int64]:
    """[N] fold of each record, dealt out in the order of the typical first covariate, nan last.

    So it depends on what a record is like, and not on where it stands.
    """
    fold = np.empty(len(typical), dtype=np.int64)
    fold[np.argsort(typical)] = np.arange(len(typical)) % FOLDS
    return fold


def thinned(positions: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Every k-th of them, so that at most `most` are left."""
    step = -(-len(positions) // most) if len(positions) else 1
    return positions[step // 2 :: step]
