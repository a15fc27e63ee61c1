"""The conditional rule as a judge: a conformal cut-off in every bin of the covariate."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import conformal_cutoff, merge_bins
from mia_audit.stats.entries import Entries
from mia_audit.stats.influence import Judgement
from mia_audit.stats.judges import share_above, slope
from mia_audit.stats.threads import in_threads, row_slices

BINS = 10


@dataclass(eq=False)
class BinJudge:
    """Cut-offs within the bins `finest` [M, N], which are merged anew for every level."""

    statistic: NDArray
    finest: NDArray[np.uint8]
    entries: Entries
    bins: int = BINS

    @cached_property
    def sorted_by_bin(self) -> tuple[list[NDArray], list[NDArray]]:
        """The ascending scores of every bin: of members, of non-members."""
        wanted = [(m, b) for m in (self.entries.inside, self.entries.outside)
                  for b in range(self.bins)]  # fmt: skip
        found = in_threads(lambda part: self._sorted_in_bin(*part), wanted)
        return found[: self.bins], found[self.bins :]

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        inside, outside = self.sorted_by_bin
        merged = merge_bins(np.array([scores.size for scores in outside]), level)
        weights, rates = np.empty((2, merged[-1] + 1))
        cutoffs = np.empty(merged[-1] + 1, dtype=self.statistic.dtype)
        num_in = max(sum(scores.size for scores in inside), 1)
        for b in range(merged[-1] + 1):
            of_in, of_out = (pooled(scores, merged == b) for scores in (inside, outside))
            cutoffs[b] = conformal_cutoff(of_out, level)
            rates[b] = share_above(of_out, cutoffs[b])
            weights[b] = bin_slope(of_in, of_out, level) * of_in.size / num_in
            weights[b] /= max(of_out.size, 1)
        hits = np.empty(self.statistic.shape, dtype=bool)
        bin_of = self._merged(merged)

        def write(rows: slice) -> None:
            np.greater(self.statistic[rows], cutoffs[bin_of[rows]], out=hits[rows])

        in_threads(write, row_slices(hits.shape))
        return Judgement(
            hits,
            self.entries,
            in_weight=1 / num_in,
            out_weight=weights,
            out_rate=np.nan_to_num(rates),
            estimated=True,
            fpr_by_construction=True,
            bin_of=bin_of,
        )

    def _merged(self, merged: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """[M, N] the merged bin of each entry."""
        if merged[-1] + 1 == len(merged):
            return self.finest
        bin_of = np.empty_like(self.finest)

        def write(rows: slice) -> None:
            np.take(merged, self.finest[rows], out=bin_of[rows], mode="clip")

        in_threads(write, row_slices(bin_of.shape))
        return bin_of

    def _sorted_in_bin(self, mask: NDArray[np.bool_], number: int) -> NDArray:
        """By rows, since masks for the whole matrix are not small either."""
        parts = [
            self.statistic[rows][mask[rows] & (self.finest[rows] == number)]
            for rows in row_slices(mask.shape)
        ]
        values = np.concatenate(parts)
        values.sort()
        return values


def pooled(scores: list[NDArray], kept: NDArray[np.bool_]) -> NDArray:
    """The ascending scores of some bins together."""
    chosen = [values for values, keep in zip(scores, kept, strict=True) if keep]
    return chosen[0] if len(chosen) == 1 else np.sort(np.concatenate(chosen))


def bin_slope(inside: NDArray, outside: NDArray, level: float) -> float:
    """Slope of one bin's TPR at `level`; 0 for a bin without in entries."""
    if not inside.size:
        return 0.0
    return slope(lambda at: share_above(inside, conformal_cutoff(outside, at)), level)
