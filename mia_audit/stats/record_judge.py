"""The per-record rule as a judge: each record's own cut-off, on the score itself.

On likelihood ratios a record-wise cut-off would depend on the entry it judges. With
e = α(n_out + 1) and j = ⌊e⌋ the decision mixes the cuts at the j-th and the (j+1)-th largest out
score with weights 1 − (e − j) and e − j, so that without any effect a member is hit with
probability exactly α.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.influence import Judgement, record_totals
from mia_audit.stats.judges import slope


@dataclass(eq=False)
class RecordJudge:
    """Mixed decisions per record; the TPR is the mean of the records' TPRs."""

    scores: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]

    @cached_property
    def ascending(self) -> NDArray:
        """[M, N] each record's out scores, sorted, behind −∞ for what is no out score."""
        return np.sort(np.where(self.outside, self.scores, -np.inf), axis=0)

    @cached_property
    def n_in(self) -> NDArray[np.int64]:
        """[N] valid in entries."""
        return self.inside.sum(axis=0)

    @cached_property
    def n_out(self) -> NDArray[np.int64]:
        """[N] valid out entries."""
        return self.outside.sum(axis=0)

    def largest(self, rank: NDArray[np.int64]) -> NDArray:
        """[N] the rank-th largest out score: +∞ for rank 0, −∞ beyond the last."""
        num_models, num_records = self.ascending.shape
        position = np.clip(num_models - rank, 0, num_models - 1)
        found = self.ascending[position, np.arange(num_records)]
        return np.where(rank == 0, np.inf, np.where(rank > self.n_out, -np.inf, found))

    def two_cuts(self, level: float) -> list[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
        """The two cuts that are mixed: weights [N] and decisions [M, N]; a tie is no hit."""
        expected = level * (self.n_out + 1)
        rank = np.floor(expected + 1e-9 * np.maximum(1, expected)).astype(np.int64)
        rest = np.maximum(expected - rank, 0.0)
        return [
            (1 - rest, self.scores > self.largest(rank)),
            (rest, self.scores > self.largest(rank + 1)),
        ]

    def rates(self, level: float, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """[N] mean decision of each record over the entries of `mask`; nan without any."""
        count = mask.sum(axis=0)
        parts = [w * mean_by_record(cut, mask, count) for w, cut in self.two_cuts(level)]
        return parts[0] + parts[1]

    def tpr_at(self, level: float) -> float:
        """Mean over records of the TPR at `level`."""
        return float(np.nanmean(self.rates(level, self.inside)))

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        (first, cut), (second, next_cut) = self.two_cuts(level)
        hits = first * cut + second * next_cut
        num_records = max(int((self.n_in > 0).sum()), 1)
        return Judgement(
            hits,
            self.inside,
            self.outside,
            in_weight=1 / np.maximum(self.n_in, 1) / num_records,
            out_weight=slope(self.tpr_at, level) / np.maximum(self.n_out, 1) / num_records,
            out_rate=np.nan_to_num(self.rates(level, self.outside)),
            estimated=True,
            fpr_by_construction=True,
        )


def mean_by_record(
    hits: NDArray, mask: NDArray[np.bool_], count: NDArray[np.int64]
) -> NDArray[np.float64]:
    """[N] mean of `hits` over the entries of `mask`; nan for a record without any."""
    return np.where(count > 0, record_totals(hits, mask) / np.maximum(count, 1), np.nan)
