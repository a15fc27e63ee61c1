"""The influence ψ of every entry on a TPR or an FPR, and the two-way variance of their sum.

Records share models and models share records, so entries are clustered by row and by column. The
variance of the sum of ψ [M, N] is that of its row sums plus that of its column sums, less that of
the entries, which both counted. ψ is made by blocks of records and never held whole; where all
entries of a class weigh the same, counts of hits are enough.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.entries import Counts, Entries
from mia_audit.stats.threads import column_slices, in_threads

BLOCK_ENTRIES = 1 << 17

Influence = Callable[[slice], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Judgement:
    """One rule's decisions at one level, and how they turn into a TPR with its influence.

    `hits` [M, N] bool, or a mixture in [0, 1]; `in_weight` is what one in entry weighs in the TPR,
    `out_weight` by how much the TPR falls per false positive because the cut-off is estimated from
    the same out scores (0 for a cut-off fixed beforehand), `out_rate` the FPR it is held at. These
    three are scalars or [N]; with `bin_of` [M, N], hits are bool and the last two are one a bin.
    `fpr_by_construction` says that the FPR is near the level whatever the scores, so that an
    interval for it would say nothing.
    """

    hits: NDArray
    entries: Entries
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
        if not self.entries.num_inside.total:
            return float("nan")
        return float((self._true_by_record * self.in_weight).sum())

    @cached_property
    def fpr(self) -> float:
        """Share of hits among the out entries; nan without any."""
        total = self.entries.num_outside.total
        return self.false_hits / total if total else float("nan")

    @cached_property
    def true_hits(self) -> float:
        """Hits among the in entries, in part where decisions are mixed."""
        return float(self._true_by_record.sum())

    @cached_property
    def false_hits(self) -> float:
        """Hits among the out entries, likewise."""
        if self.hits.dtype == bool:
            return float(self._hit_counts[1].total)
        return float(record_totals(self.hits, self.entries.outside).sum())

    def tpr_influence(self, columns: slice) -> NDArray[np.float64]:
        """ψ of the TPR for some records, [M, w]."""
        entries, hits = self.entries, self.hits[:, columns]
        if hits.dtype == bool and np.ndim(self.in_weight) == 0:
            return self._influences.take(self._codes(columns))
        psi = (hits - np.float64(self.tpr)) * at(self.in_weight, columns)
        psi *= entries.inside[:, columns]
        if self.estimated:
            held = hits - at(self.out_rate, columns)
            held *= at(self.out_weight, columns)
            held *= entries.outside[:, columns]
            psi -= held
        return psi

    def _codes(self, columns: slice) -> NDArray[np.uint8]:
        """Where each entry finds its ψ in `_influences`, [M, w]."""
        hits, inside = self.hits[:, columns], self.entries.inside[:, columns]
        if self.bin_of is None:
            code = np.full(hits.shape, 3, dtype=np.uint8)
        else:
            code = 2 * self.bin_of[:, columns] + np.uint8(3)
        code *= self.entries.outside[:, columns]
        code += inside
        code += hits & (code > 0)
        return code

    @cached_property
    def _influences(self) -> NDArray[np.float64]:
        """ψ by code: of what does not count; of members missed and hit; of non-members, by bin."""
        of_in = float(self.in_weight) * (np.arange(2) - self.tpr)
        weight, rate = (np.atleast_1d(v)[:, None] for v in (self.out_weight, self.out_rate))
        of_out = -weight * (np.arange(2) - rate) * self.estimated
        return np.concatenate([[0.0], of_in, of_out.ravel()])

    def fpr_influence(self, columns: slice) -> NDArray[np.float64]:
        """ψ of the FPR for some records, [M, w], the cut-off taken as given."""
        psi = self.hits[:, columns] - np.float64(self.fpr)
        psi *= self.entries.outside[:, columns]
        psi /= self.entries.num_outside.total
        return psi

    @cached_property
    def tpr_variance(self) -> float:
        """Two-way clustered variance of the TPR."""
        if not self._is_plain:
            return two_way_variance(self.tpr_influence, *self.entries.shape)
        (true, false), entries = self._hit_counts, self.entries
        parts = [Part(float(self.in_weight), self.tpr, true, entries.num_inside)]
        if self.estimated:
            weight, rate = -float(self.out_weight), float(self.out_rate)
            parts.append(Part(weight, rate, false, entries.num_outside))
        return variance_of_counts(parts)

    @cached_property
    def fpr_variance(self) -> float:
        """Two-way clustered variance of the FPR, the cut-off taken as given."""
        if self.hits.dtype != bool:
            return two_way_variance(self.fpr_influence, *self.entries.shape)
        num_out = self.entries.num_outside
        return variance_of_counts([Part(1 / num_out.total, self.fpr, self._hit_counts[1], num_out)])

    @property
    def _is_plain(self) -> bool:
        """Whether decisions are whole and all entries of a class weigh the same."""
        values = (self.in_weight, self.out_weight, self.out_rate)
        return self.hits.dtype == bool and all(np.ndim(value) == 0 for value in values)

    @cached_property
    def _hit_counts(self) -> tuple[Counts, Counts]:
        """Hits among the in entries and among the out entries."""
        entries = self.entries
        return Counts.of(self.hits, entries.inside), Counts.of(self.hits, entries.outside)

    @cached_property
    def _true_by_record(self) -> NDArray:
        """[N] hits among the in entries."""
        if self.hits.dtype == bool:
            return self._hit_counts[0].by_record
        return record_totals(self.hits, self.entries.inside)


class Part(NamedTuple):
    """ψ = weight·(hit − rate) on the entries of one class, with the counts of hits and entries."""

    weight: float
    rate: float
    hits: Counts
    entries: Counts


def at(value: float | NDArray, columns: slice) -> np.float64 | NDArray:
    """The part of a scalar or [N] weight that belongs to some records."""
    return value[columns] if isinstance(value, np.ndarray) else np.float64(value)


def record_totals(hits: NDArray, mask: NDArray[np.bool_]) -> NDArray:
    """[N] sum of `hits` over the entries of `mask`."""
    if hits.dtype == bool:
        return Counts.of(hits, mask).by_record

    def total(columns: slice) -> NDArray[np.float64]:
        return np.einsum("mn,mn->n", hits[:, columns], mask[:, columns], dtype=np.float64)

    return np.concatenate(in_threads(total, column_slices(hits.shape, BLOCK_ENTRIES)))


def two_way_variance(influence: Influence, num_models: int, num_records: int) -> float:
    """V = M/(M−1)·Σ_m(Σ_x ψ)² + N/(N−1)·Σ_x(Σ_m ψ)² − Σψ², at least Σψ²."""

    def sums(columns: slice) -> tuple[NDArray[np.float64], float, float]:
        psi = influence(columns)
        by_record = psi.sum(axis=0)
        return psi.sum(axis=1), float(by_record @ by_record), float(np.einsum("mn,mn->", psi, psi))

    found = in_threads(sums, column_slices((num_models, num_records), BLOCK_ENTRIES))
    by_model, by_record, single = zip(*found, strict=True)
    rows = np.sum(by_model, axis=0)
    between = num_models / max(num_models - 1, 1) * float(rows @ rows)
    between += num_records / max(num_records - 1, 1) * sum(by_record)
    return max(between - sum(single), sum(single))


def variance_of_counts(parts: list[Part]) -> float:
    """`two_way_variance` of a sum of classes in each of which all entries weigh the same."""
    num_models, num_records = parts[0].entries.by_model.size, parts[0].entries.by_record.size
    rows, columns, single = np.zeros(num_models), np.zeros(num_records), 0.0
    for weight, rate, hits, entries in parts:
        rows += weight * (hits.by_model - rate * entries.by_model)
        columns += weight * (hits.by_record - rate * entries.by_record)
        single += weight**2 * (hits.total * (1 - 2 * rate) + rate**2 * entries.total)
    between = num_models / max(num_models - 1, 1) * float(np.dot(rows, rows))
    between += num_records / max(num_records - 1, 1) * float(np.dot(columns, columns))
    return float(max(between - single, single))
