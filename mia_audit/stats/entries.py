"""The entries of a table that count: members and non-members with enough shadow models."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.threads import in_threads, row_slices


@dataclass(frozen=True, eq=False)
class Counts:
    """How many entries a mask [M, N] marks in each row and each column: int64 [M] and [N]."""

    by_model: NDArray[np.int64]
    by_record: NDArray[np.int64]

    @classmethod
    def of(cls, *masks: NDArray[np.bool_]) -> "Counts":
        """Where all of one or two masks hold."""

        def count(rows: slice) -> tuple[NDArray, NDArray]:
            part = np.logical_and.reduce([mask[rows] for mask in masks])
            return part.sum(axis=1, dtype=np.int32), part.sum(axis=0, dtype=np.int32)

        found = in_threads(count, row_slices(masks[0].shape))
        by_model, by_record = zip(*found, strict=True)
        return cls(
            np.concatenate(by_model).astype(np.int64), np.sum(by_record, axis=0, dtype=np.int64)
        )

    @cached_property
    def total(self) -> int:
        """All of them."""
        return int(self.by_record.sum())


@dataclass(frozen=True, eq=False)
class Entries:
    """Valid members and valid non-members, bool [M, N] each; no entry is both."""

    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """M models, N records."""
        num_models, num_records = self.inside.shape
        return num_models, num_records

    @cached_property
    def num_inside(self) -> Counts:
        """Of the members."""
        return Counts.of(self.inside)

    @cached_property
    def num_outside(self) -> Counts:
        """Of the non-members."""
        return Counts.of(self.outside)
