"""The entries of a table that count: members and non-members with enough shadow models."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Counts:
    """How many entries a mask [M, N] marks in each row and each column: int64 [M] and [N]."""

    by_model: NDArray[np.int64]
    by_record: NDArray[np.int64]

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> "Counts":
        return cls(mask.sum(axis=1, dtype=np.int64), mask.sum(axis=0, dtype=np.int64))

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
