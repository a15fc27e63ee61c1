"""What every rule of one table reads: the scores, the entries that count, records' moments.

Shapes: M models, N records. Statistics of the size of the scores are made when a rule asks for
them and kept by nobody: one such matrix at a time is what large sweeps have memory for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.attacks import lira
from mia_audit.stats.blocks import BLOCK_ENTRIES
from mia_audit.stats.cutoffs import assign_bins, quantile_edges
from mia_audit.stats.entries import Entries
from mia_audit.stats.judges import PooledJudge
from mia_audit.stats.moments import VARIANCE_FLOOR, Block, GivenBlock, Kind, Moments, moment_block
from mia_audit.stats.standardisation import standardise
from mia_audit.stats.threads import column_slices, in_threads

SAMPLE_ENTRIES = 1 << 22  # of which smooth properties of all scores are read off


@dataclass(frozen=True, eq=False)
class RecordMoments:
    """Each record's moments over all models, arrays [N]; nan where a class has too few models."""

    mean_in: NDArray[np.float64]
    var_in: NDArray[np.float64]
    n_in: NDArray[np.int64]
    mean_out: NDArray[np.float64]
    var_out: NDArray[np.float64]
    n_out: NDArray[np.int64]

    @property
    def delta(self) -> NDArray[np.float64]:
        """μ_in − μ_out: by how much membership raises the score."""
        return self.mean_in - self.mean_out


@dataclass(frozen=True, eq=False)
class Panel:
    """Scores and members [M, N], and the entries for which every rule of the table is defined.

    `statistic` is the chosen attack's output, `moments` what replaces the computed ones.
    """

    scores: NDArray
    members: NDArray[np.bool_]
    entries: Entries
    statistic: NDArray | None
    moments: Moments | None
    records: RecordMoments
    floored_share: float

    @property
    def nan_entries(self) -> int:
        """Entries without enough shadow models for some rule of the table."""
        counted = self.entries.num_inside.total + self.entries.num_outside.total
        return int(self.members.size - counted)

    @property
    def num_models(self) -> int:
        """M."""
        return int(self.members.shape[0])

    @property
    def sample(self) -> NDArray[np.int64]:
        """The records that smooth properties of all scores are read off."""
        num_models, num_records = self.members.shape
        return sample_of(num_records, SAMPLE_ENTRIES // num_models)

    def naive(self) -> PooledJudge:
        """LiRA's likelihood ratio under one cut-off."""
        return PooledJudge(lira(self.scores, self.members, moments=self.moments), self.entries)

    def pooled(self, direction: str) -> PooledJudge:
        """The standardised scores of a direction under one cut-off."""
        return PooledJudge(self.standardised(direction), self.entries)

    def standardised(self, direction: str) -> NDArray:
        """z [M, N], stored as exactly as the scores are."""
        return standardise(
            self.scores,
            self.members,
            direction=direction,
            moments=self.moments,
            dtype=self.scores.dtype,
        )

    def bins(self, number: int) -> NDArray[np.uint8]:
        """[M, N] quantile bin of each entry's leave-one-out μ_out/σ_out."""
        chosen = self.sample
        found = in_threads(self._covariate, parts_of(chosen, self.members.shape))
        outside = self.entries.outside[:, chosen]
        edges = quantile_edges(np.concatenate(found, axis=1)[outside], number)
        bin_of = np.empty(self.members.shape, dtype=np.uint8)

        def write(columns: slice) -> None:
            bin_of[:, columns] = assign_bins(self._covariate(columns), edges)

        in_threads(write, column_slices(self.members.shape, BLOCK_ENTRIES))
        return bin_of

    def _covariate(self, records: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Leave-one-out μ_out/σ_out of some records, [M, w]."""
        block = moment_block(self.scores, self.members, self.moments, records)
        deviation, variance = block.left_out("out")
        return (self.scores[:, records] - deviation) / np.sqrt(variance)


def build_panel(
    scores: NDArray,
    members: NDArray[np.bool_],
    *,
    statistic: NDArray | None = None,
    moments: Moments | None = None,
) -> Panel:
    """Scores and members [M, N] (checked) → the panel; `moments` replaces the computed ones.

    Statistics are stored like the scores: in float32 at least, for variances at their floor.
    """
    scores = in_native_floats(scores)
    statistic = None if statistic is None else in_native_floats(statistic)
    inside, outside = np.empty((2, *scores.shape), dtype=bool)

    def look(columns: slice) -> RecordMoments:
        block, own = moment_block(scores, members, moments, columns), members[:, columns]
        np.logical_and(own, has_shadows(block, "in"), out=inside[:, columns])
        np.greater(has_shadows(block, "out"), own, out=outside[:, columns])
        if statistic is not None:
            known = ~np.isnan(statistic[:, columns])
            inside[:, columns] &= known
            outside[:, columns] &= known
        return record_moments(block, own)

    def floored(records: slice | NDArray[np.int64]) -> int:
        return num_floored(moment_block(scores, members, moments, records))

    found = in_threads(look, column_slices(scores.shape, BLOCK_ENTRIES))
    sample = sample_of(scores.shape[1], SAMPLE_ENTRIES // len(scores))
    parts = parts_of(sample, scores.shape)
    return Panel(
        scores,
        members,
        Entries(inside, outside),
        statistic,
        moments,
        joined(found),
        sum(in_threads(floored, parts)) / (len(scores) * sample.size),
    )


def sample_of(num_records: int, most: int) -> NDArray[np.int64]:
    """All records, or `most` of them drawn by a fixed seed, in order.

    Drawn, since in a pool of pairs or of canaries every other record is of another kind.
    """
    if most >= num_records:
        return np.arange(num_records)
    return np.sort(np.random.default_rng(0).choice(num_records, max(1, most), replace=False))


def parts_of(records: NDArray[np.int64], shape: tuple[int, ...]) -> list[slice | NDArray[np.int64]]:
    """Those records in parts of about a block each: the usual blocks, to the last bit, if all."""
    if len(records) == shape[1]:
        return [*column_slices(shape, BLOCK_ENTRIES)]
    width = max(1, BLOCK_ENTRIES // shape[0])
    return [records[at : at + width] for at in range(0, len(records), width)]


def in_native_floats(values: NDArray) -> NDArray:
    """As float32 where that holds them all, else as float64; the array itself if it is either."""
    if values.dtype in (np.float32, np.float64):
        return values
    small = values.dtype.kind == "f" and values.dtype.itemsize < 4
    return values.astype(np.float32 if small else np.float64)


def has_shadows(block: Block | GivenBlock, kind: Kind) -> NDArray[np.bool_]:
    """Where two other models remain in either class when an entry of one class is left out.

    Bool [w], the same for all models; of given moments [M, w], where they are known.
    """
    if isinstance(block, Block):
        n_in, n_out = block.sums_in.count, block.sums_out.count
        return (n_in >= 2 + (kind == "in")) & (n_out >= 2 + (kind == "out"))
    (above_in, var_in), (above_out, var_out) = block.left_out("in"), block.left_out("out")
    known = np.isfinite(above_in + var_in + above_out + var_out)
    return known & (var_in > 0) & (var_out > 0)


def num_floored(block: Block | GivenBlock) -> int:
    """Entries with a variance at its floor in some class."""
    var_in, var_out = block.left_out("in")[1], block.left_out("out")[1]
    return int((np.fmin(var_in, var_out) <= VARIANCE_FLOOR * 1.001).sum())


def joined(parts: list[RecordMoments]) -> RecordMoments:
    """The moments of all blocks of records, left to right."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return RecordMoments(*(np.concatenate(column) for column in columns))


def record_moments(block: Block | GivenBlock, members: NDArray[np.bool_]) -> RecordMoments:
    """Each record's moments over all models, read off given leave-one-out ones where need be.

    Leaving out a model that trained on the record changes nothing in the out class, and the other
    way round; so corrected moments (finite population) come through corrected.
    """
    n_in = members.sum(axis=0, dtype=np.int64)
    n_out = len(members) - n_in
    if isinstance(block, Block):
        sums_in, sums_out = block.sums_in, block.sums_out
        return RecordMoments(
            sums_in.mean + block.origin, sums_in.variance(), n_in,
            sums_out.mean + block.origin, sums_out.variance(), n_out,
        )  # fmt: skip
    given = block.moments.of_records(block.columns)
    columns = np.arange(members.shape[1])

    def at(values: NDArray, rows: NDArray, there: NDArray) -> NDArray:
        return np.where(there, values[rows, columns], np.nan)

    row_in, row_out, any_in, any_out = members.argmax(0), members.argmin(0), n_in > 0, n_out > 0
    return RecordMoments(
        at(given.mean_in, row_out, any_out), at(given.var_in, row_out, any_out), n_in,
        at(given.mean_out, row_in, any_in), at(given.var_out, row_in, any_in), n_out,
    )  # fmt: skip
