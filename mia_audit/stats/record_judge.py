"""The per-record rule as a judge: each record's own cut-off, on the score itself.

On likelihood ratios a record-wise cut-off would depend on the entry it judges. With
e = α(n_out + 1) and j = ⌊e⌋ the decision mixes the cuts at the j-th and the (j+1)-th largest out
score with weights 1 − (e − j) and e − j, so that without any effect a member is hit with
probability exactly α.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.blocks import BLOCK_ENTRIES
from mia_audit.stats.entries import Counts, Entries
from mia_audit.stats.influence import Judgement, record_totals
from mia_audit.stats.judges import slope
from mia_audit.stats.threads import column_slices, in_threads, row_slices


class Cuts(NamedTuple):
    """The two cuts that are mixed: their places and the weight of the second, each [N]."""

    first: NDArray
    second: NDArray
    rest: NDArray[np.float64]


@dataclass(eq=False)
class RecordJudge:
    """Mixed decisions per record; the TPR is the mean of the records' TPRs."""

    scores: NDArray
    entries: Entries
    _known: dict[float, Cuts] = field(default_factory=dict)

    def cuts(self, level: float) -> Cuts:
        """Where the decisions of `level` are cut; a tie is no hit."""
        if level not in self._known:
            self.look_up([level])
        return self._known[level]

    def rates(self, level: float, mask: NDArray[np.bool_], counts: Counts) -> NDArray[np.float64]:
        """[N] mean decision of each record over the entries of `mask`; nan without any."""
        first, second, rest = self.cuts(level)

        def above(rows: slice) -> list[NDArray]:
            part, own = self.scores[rows], mask[rows]
            return [((part > cut) & own).sum(axis=0, dtype=np.int32) for cut in (first, second)]

        one, other = np.sum(in_threads(above, row_slices(mask.shape)), axis=0)
        return mean_of_totals((1 - rest) * one + rest * other, counts)

    def tpr_at(self, level: float) -> float:
        """Mean over records of the TPR at `level`."""
        return float(np.nanmean(self.rates(level, self.entries.inside, self.entries.num_inside)))

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        self.look_up([level])
        n_in, n_out = self.entries.num_inside, self.entries.num_outside
        num_records = max(int((n_in.by_record > 0).sum()), 1)
        rise = slope(self.tpr_at, level)
        return Judgement(
            self._hits(self.cuts(level)),
            self.entries,
            in_weight=1 / np.maximum(n_in.by_record, 1) / num_records,
            out_weight=rise / np.maximum(n_out.by_record, 1) / num_records,
            out_rate=np.nan_to_num(self.rates(level, self.entries.outside, n_out)),
            estimated=True,
            fpr_by_construction=True,
        )

    def _hits(self, cuts: Cuts) -> NDArray:
        """The mixture, [M, N]."""
        hits = np.empty_like(self.scores)
        both, rest = (1 - cuts.rest).astype(hits.dtype), cuts.rest.astype(hits.dtype)

        def write(rows: slice) -> None:
            np.multiply(self.scores[rows] > cuts.first, both, out=hits[rows])
            hits[rows] += (self.scores[rows] > cuts.second) * rest

        in_threads(write, row_slices(hits.shape))
        return hits

    def look_up(self, levels: Iterable[float]) -> None:
        """Find the cuts of levels, and of those that their slopes need, in one pass of sorting."""
        asked = {at for level in levels for at in (level, level / 2, min(2 * level, 1.0))}
        new = sorted(asked - self._known.keys())
        if not new:
            return
        parts = column_slices(self.entries.shape, BLOCK_ENTRIES)
        found = in_threads(lambda columns: self._cuts_of(columns, new), parts)
        for level, cuts in zip(new, zip(*found, strict=True), strict=True):
            self._known[level] = Cuts(*(np.concatenate(part) for part in zip(*cuts, strict=True)))

    def _cuts_of(self, columns: slice, levels: list[float]) -> list[Cuts]:
        outside = self.entries.outside[:, columns].T
        scores = np.where(outside, self.scores[:, columns].T, -np.inf)
        scores.sort(axis=1)  # ascending, behind −∞ for what is no out score
        count = outside.sum(axis=1)
        return [cuts_of_sorted(scores, count, level) for level in levels]


def cuts_of_sorted(ascending: NDArray, count: NDArray[np.int64], level: float) -> Cuts:
    """From rows of sorted scores, the last `count` of which are out scores."""
    expected = level * (count + 1)
    rank = np.floor(expected + 1e-9 * np.maximum(1, expected)).astype(np.int64)

    def largest(rank: NDArray[np.int64]) -> NDArray:
        """The rank-th largest out score: +∞ for rank 0, −∞ beyond the last."""
        num_records, num_models = ascending.shape
        position = np.clip(num_models - rank, 0, num_models - 1)
        found = ascending[np.arange(num_records), position]
        found[rank == 0] = np.inf
        found[rank > count] = -np.inf
        return found

    return Cuts(largest(rank), largest(rank + 1), np.maximum(expected - rank, 0.0))


def mean_by_record(hits: NDArray, mask: NDArray[np.bool_], counts: Counts) -> NDArray[np.float64]:
    """[N] mean of `hits` over the entries of `mask`; nan for a record without any."""
    return mean_of_totals(record_totals(hits, mask), counts)


def mean_of_totals(totals: NDArray, counts: Counts) -> NDArray[np.float64]:
    """The same from each record's sum."""
    count = counts.by_record
    return np.where(count > 0, totals / np.maximum(count, 1), np.nan)
