"""The conditional rule as a judge: a conformal cut-off in every bin of the covariate."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.cutoffs import assign_bins, conformal_cutoff, merge_bins, quantile_edges
from mia_audit.stats.influence import Judgement
from mia_audit.stats.judges import share_above, slope


@dataclass(eq=False)
class BinJudge:
    """Cut-offs within bins of `covariate` [M, N], which are merged anew for every level."""

    statistic: NDArray
    covariate: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    bins: int = 10

    @cached_property
    def finest(self) -> NDArray[np.int16]:
        """[M, N] bin of every entry before merging."""
        edges = quantile_edges(self.covariate[self.outside], self.bins)
        return assign_bins(self.covariate, edges)

    def __call__(self, level: float) -> Judgement:
        """Decisions at `level`."""
        counts = np.bincount(self.finest[self.outside], minlength=self.bins)
        merged = merge_bins(counts, level)
        bin_of = merged[self.finest]
        inside, outside = (
            sorted_by_bin(self.statistic[mask], bin_of[mask], merged[-1] + 1)
            for mask in (self.inside, self.outside)
        )
        cutoffs = np.array([conformal_cutoff(scores, level) for scores in outside])
        num_in = max(sum(part.size for part in inside), 1)
        weights = [
            bin_slope(of_in, of_out, level) * of_in.size / num_in / max(of_out.size, 1)
            for of_in, of_out in zip(inside, outside, strict=True)
        ]
        rates = [share_above(scores, c) for scores, c in zip(outside, cutoffs, strict=True)]
        return Judgement(
            self.statistic > cutoffs[bin_of],
            self.inside,
            self.outside,
            in_weight=1 / num_in,
            out_weight=np.array(weights),
            out_rate=np.nan_to_num(rates),
            estimated=True,
            fpr_by_construction=True,
            bin_of=bin_of,
        )


def sorted_by_bin(values: NDArray, bin_of: NDArray, num_bins: int) -> list[NDArray]:
    """The ascending values of every bin."""
    return [np.sort(values[bin_of == b]) for b in range(num_bins)]


def bin_slope(inside: NDArray, outside: NDArray, level: float) -> float:
    """Slope of one bin's TPR at `level`; 0 for a bin without in entries."""
    if not inside.size:
        return 0.0
    return slope(lambda at: share_above(inside, conformal_cutoff(outside, at)), level)
