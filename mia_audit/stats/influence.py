"""The influence ψ of every entry on a TPR or an FPR, and the two-way variance of their sum.

Records share models and models share records, so entries are clustered by row and by column. The
variance of the sum of ψ [M, N] is that of its row sums plus that of its column sums, less that of
the entries, which both counted.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Judgement:
    """One rule's decisions at one level, and how they turn into a TPR with its influence.

    `hits` [M, N], 0/1 or a mixture in between; `in_weight` is what one in entry weighs in the TPR,
    `out_weight` by how much the TPR falls per false positive because the cut-off is estimated from
    the same out scores (0 for a cut-off fixed beforehand), `out_rate` the FPR it is held at. These
    three are scalars, [N] or [M, N]. `fpr_by_construction` says that the FPR is near the level
    whatever the scores, so that an interval for it would say nothing.
    """

    hits: NDArray
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    in_weight: float | NDArray
    out_weight: float | NDArray = 0.0
    out_rate: float | NDArray = 0.0
    estimated: bool = False
    fpr_by_construction: bool = False
    note: str = ""

    @cached_property
    def tpr(self) -> float:
        """Weighted share of hits among the in entries; nan without any."""
        if not self.inside.any():
            return float("nan")
        return float((np.where(self.inside, self.hits, 0) * self.in_weight).sum())

    @cached_property
    def fpr(self) -> float:
        """Share of hits among the out entries; nan without any."""
        return share(self.hits, self.outside)

    @cached_property
    def psi(self) -> NDArray[np.float64]:
        """ψ [M, N] of the TPR."""
        psi = np.where(self.inside, (self.hits - self.tpr) * self.in_weight, 0.0)
        if self.estimated:
            psi -= np.where(self.outside, (self.hits - self.out_rate) * self.out_weight, 0.0)
        return psi

    @property
    def psi_fpr(self) -> NDArray[np.float64]:
        """ψ [M, N] of the FPR, for a cut-off fixed beforehand."""
        return np.where(self.outside, (self.hits - self.fpr) / self.outside.sum(), 0.0)


def share(hits: NDArray, mask: NDArray[np.bool_]) -> float:
    """Mean of `hits` over the entries of `mask`; nan if it is empty."""
    count = int(mask.sum())
    return float(np.where(mask, hits, 0).sum() / count) if count else float("nan")


def two_way_variance(psi: NDArray) -> float:
    """V = M/(M−1)·Σ_m(Σ_x ψ)² + N/(N−1)·Σ_x(Σ_m ψ)² − Σψ², at least Σψ²."""
    num_models, num_records = psi.shape
    rows, columns = psi.sum(axis=1), psi.sum(axis=0)
    single = float(np.einsum("mn,mn->", psi, psi))
    between = num_models / max(num_models - 1, 1) * float(rows @ rows)
    between += num_records / max(num_records - 1, 1) * float(columns @ columns)
    return max(between - single, single)
