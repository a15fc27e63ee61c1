"""The influence ψ of every entry on a TPR or an FPR, and the two-way variance of their sum.

Records share models and models share records, so entries are clustered by row and by column. The
variance of the sum of ψ [M, N] is that of its row sums plus that of its column sums, less that of
the entries, which both counted. ψ is made by blocks of records and never held whole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

BLOCK_ENTRIES = 1 << 17

Influence = Callable[[slice], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Judgement:
    """One rule's decisions at one level, and how they turn into a TPR with its influence.

    `hits` [M, N] bool, or a mixture in [0, 1]; `in_weight` is what one in entry weighs in the TPR,
    `out_weight` by how much the TPR falls per false positive because the cut-off is estimated from
    the same out scores (0 for a cut-off fixed beforehand), `out_rate` the FPR it is held at. These
    three are scalars or [N]; with `bin_of` [M, N] the last two are one a bin.
    `fpr_by_construction` says that the FPR is near the level whatever the scores, so that an
    interval for it would say nothing.
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
    bin_of: NDArray | None = None

    @cached_property
    def tpr(self) -> float:
        """Weighted share of hits among the in entries; nan without any."""
        if not self.inside.any():
            return float("nan")
        return float((record_totals(self.hits, self.inside) * self.in_weight).sum())

    @cached_property
    def fpr(self) -> float:
        """Share of hits among the out entries; nan without any."""
        if not self.num_outside:
            return float("nan")
        return float(record_totals(self.hits, self.outside).sum() / self.num_outside)

    @cached_property
    def num_outside(self) -> int:
        """Out entries."""
        return int(self.outside.sum())

    def tpr_influence(self, columns: slice) -> NDArray[np.float64]:
        """ψ of the TPR for some records, [M, w]."""
        psi = self.hits[:, columns] - self.tpr
        psi *= at(self.in_weight, columns)
        psi *= self.inside[:, columns]
        if self.estimated:
            held = self.hits[:, columns] - self.out(self.out_rate, columns)
            held *= self.out(self.out_weight, columns)
            held *= self.outside[:, columns]
            psi -= held
        return psi

    def out(self, value: float | NDArray, columns: slice) -> float | NDArray:
        """The part of an out weight or rate that belongs to some records."""
        if self.bin_of is None:
            return at(value, columns)
        assert isinstance(value, np.ndarray)
        return value[self.bin_of[:, columns]]

    def fpr_influence(self, columns: slice) -> NDArray[np.float64]:
        """ψ of the FPR for some records, [M, w], the cut-off taken as given."""
        psi = self.hits[:, columns] - self.fpr
        psi *= self.outside[:, columns]
        psi /= self.num_outside
        return psi


def at(value: float | NDArray, columns: slice) -> float | NDArray:
    """The part of a scalar or [N] weight that belongs to some records."""
    return value[columns] if isinstance(value, np.ndarray) else value


def record_totals(hits: NDArray, mask: NDArray[np.bool_]) -> NDArray:
    """[N] sum of `hits` over the entries of `mask`."""
    if hits.dtype == bool:
        return (hits & mask).sum(axis=0, dtype=np.int32)
    return np.einsum("mn,mn->n", hits, mask)


def blocks(num_models: int, num_records: int) -> Iterator[slice]:
    """Slices over the records, each of about `BLOCK_ENTRIES` entries."""
    width = max(1, BLOCK_ENTRIES // num_models)
    for start in range(0, num_records, width):
        yield slice(start, min(start + width, num_records))


def two_way_variance(influence: Influence, num_models: int, num_records: int) -> float:
    """V = M/(M−1)·Σ_m(Σ_x ψ)² + N/(N−1)·Σ_x(Σ_m ψ)² − Σψ², at least Σψ²."""
    rows, columns, single = np.zeros(num_models), 0.0, 0.0
    for block in blocks(num_models, num_records):
        psi = influence(block)
        rows += psi.sum(axis=1)
        sums = psi.sum(axis=0)
        columns += float(sums @ sums)
        single += float(np.einsum("mn,mn->", psi, psi))
    between = num_models / max(num_models - 1, 1) * float(rows @ rows)
    between += num_records / max(num_records - 1, 1) * columns
    return max(between - single, single)
