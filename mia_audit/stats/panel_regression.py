"""The shape regression of a whole panel: fitted to some of its entries, applied by blocks.

A fit reads at most forty thousand entries whatever the size of the sweep, so drawing them from
four million loses nothing; the conformal shift that follows is over all of them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import BLOCK_ENTRIES, Block, block_at
from mia_audit.stats.moments import GivenBlock
from mia_audit.stats.panel import Panel, parts_of
from mia_audit.stats.shape_regression import ShapeRegression, folds_of, typical_covariate
from mia_audit.stats.shapes import SHAPES, OutSums, write_shapes
from mia_audit.stats.standardisation import standardised_block
from mia_audit.stats.threads import column_slices, in_threads


@dataclass(eq=False)
class PanelRegression:
    """Quantiles of the standardised scores of a direction given the shape of their records.

    Shapes are those of the scores as they are, whatever the moments.
    """

    panel: Panel
    direction: str

    def margin(self, level: float) -> NDArray:
        """z less the quantile of its record's shape, [M, N]; see `ShapeRegression.margin`."""
        if not self.regression.is_rich(level):
            return self.panel.standardised(self.direction)
        self.regression.weights(level)  # here, not in each thread
        margin = np.empty_like(self.panel.scores)

        def write(columns: slice) -> None:
            margin[:, columns] = self._margin_of(columns, level)

        in_threads(write, column_slices(margin.shape, BLOCK_ENTRIES))
        return margin

    @cached_property
    def regression(self) -> ShapeRegression:
        """Fitted to the panel's sample of records."""
        sample = self.panel.sample
        read = in_threads(self._read, parts_of(sample, self.panel.members.shape))
        return ShapeRegression(
            np.concatenate([z for z, _ in read], axis=1),
            np.concatenate([covariates for _, covariates in read], axis=2),
            self.panel.entries.outside[:, sample],
            self.fold[sample],
        )

    @property
    def fold(self) -> NDArray[np.int64]:
        """[N] fold of every record."""
        return self._looked[0]

    @cached_property
    def _looked(self) -> tuple[NDArray[np.int64], dict[int, OutSums]]:
        """The folds, and the sums of every block by its first record."""
        scores, members, entries = self.panel.scores, self.panel.members, self.panel.entries

        def look(columns: slice) -> tuple[NDArray[np.float64], OutSums]:
            block = block_at(scores, members, columns)
            sums = OutSums.of(block)
            first = np.empty((1, *block.centred.shape), dtype=np.float32)
            sums.write(sums.deviations(block), ~block.members, slice(None), first)
            valid = entries.inside[:, columns] | entries.outside[:, columns]
            return typical_covariate(first[0], valid), sums

        parts = column_slices(scores.shape, BLOCK_ENTRIES)
        found = in_threads(look, parts)
        typical = np.concatenate([covariate for covariate, _ in found])
        starts = (part.start for part in parts)
        return folds_of(typical), dict(zip(starts, (sums for _, sums in found), strict=True))

    def _margin_of(self, columns: slice, level: float) -> NDArray:
        """The margin of a block, [M, w]: shapes are computed of candidates alone where possible."""
        sums = self._looked[1][columns.start]
        if sums.may_be_shapeless().any():
            z, covariates = self._read(columns)
            return self.regression.margin_of(z, covariates, self.fold[columns], level)
        block = block_at(self.panel.scores, self.panel.members, columns)
        z = self._z(block)
        margin = np.full(z.shape, -np.inf, dtype=z.dtype)  # in rows, whatever the order of z
        margin[np.isnan(z)] = np.nan
        at = np.flatnonzero(z > self.regression.least(level))
        record, out = at % z.shape[1], ~block.members.ravel()[at]
        own = np.where(out, block.centred.ravel()[at] - block.sums_out.mean[record], 0.0)
        covariates = np.empty((SHAPES, at.size), dtype=np.float32)
        sums.write(own, out, record, covariates)
        heights = self.regression.heights(covariates, self.fold[columns][record], level)
        margin.ravel()[at] = z.ravel()[at] - heights
        return margin

    def _read(self, records: slice | NDArray[np.int64]) -> tuple[NDArray, NDArray[np.float32]]:
        """z [M, w] and covariates [3, M, w]."""
        block = block_at(self.panel.scores, self.panel.members, records)
        covariates = np.empty((SHAPES, *block.centred.shape), dtype=np.float32)
        write_shapes(block, covariates)
        return self._z(block), covariates

    def _z(self, block: Block) -> NDArray:
        """z [M, w] as a panel stores it, nan at entries that do not count."""
        moments, records = self.panel.moments, block.columns
        source = block if moments is None else GivenBlock(records, self.panel.scores, moments)
        z = standardised_block(source, self.direction)
        entries = self.panel.entries
        z[~(entries.inside[:, records] | entries.outside[:, records])] = np.nan
        return z.astype(self.panel.scores.dtype, copy=False)
