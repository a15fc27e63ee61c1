"""A data set: encoded records, their labels, and where each record came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """N records with F encoded features and labels of C classes.

    Attributes:
        name: what the data set is called in runs and reports.
        X: float32 [N, F], encoded features, all finite.
        y: int64 [N], labels 0 … C−1.
        feature_names: [F] encoded columns, e.g. ``age`` or ``workclass=Private``.
        feature_kinds: [F] each ``numeric``, ``one_hot`` (0/1) or ``code`` (a category's number).
        class_names: [C].
        rows: int64 [N], position of each record in the source table; the record ids of reports.
        notes: sentences on what was understood and done (missing values, dropped columns …).
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    feature_kinds: tuple[str, ...]
    class_names: tuple[str, ...]
    rows: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.X.ndim == 2
        assert self.X.dtype == np.float32
        assert self.y.shape == self.rows.shape == (len(self.X),)
        assert self.y.dtype == self.rows.dtype == np.int64
        assert len(self.feature_names) == len(self.feature_kinds) == self.X.shape[1]
        assert self.y.size == 0 or (self.y.min() >= 0 and self.y.max() < self.num_classes)

    @property
    def num_records(self) -> int:
        return len(self.X)

    @property
    def num_features(self) -> int:
        return self.X.shape[1]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """int64 [C], records of each class."""
        return np.bincount(self.y, minlength=self.num_classes).astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """sha256 (hex) of X, y, rows and the feature and class names.

        The data set's own name and notes are left out: the same table under another file name
        has the same digest, so moving a file does not retrain a sweep.
        """
        names = [self.feature_names, self.feature_kinds, self.class_names]
        sha = hashlib.sha256(json.dumps(names).encode())
        for array, kind in ((self.X, "<f4"), (self.y, "<i8"), (self.rows, "<i8")):
            sha.update(f"|{kind}{array.shape}|".encode())
            sha.update(np.ascontiguousarray(array, dtype=kind).data)
        return sha.hexdigest()

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Dataset:
        """The records at these positions of this data set, in the given order."""
        at = np.asarray(rows, dtype=np.int64)
        return replace(self, X=self.X[at], y=self.y[at], rows=self.rows[at])

    def profile(self) -> dict[str, Any]:
        """The data set in numbers, JSON-able: name, sizes, class counts and digest."""
        return {
            "name": self.name,
            "num_records": self.num_records,
            "num_features": self.num_features,
            "class_counts": dict(zip(self.class_names, self.class_counts.tolist(), strict=True)),
            "digest": self.digest,
        }

    def summary(self) -> list[str]:
        """Sentences to print before training: sizes, classes, then the notes."""
        kinds = {"numeric": "numeric", "one_hot": "one-hot", "code": "coded"}
        counts = ((label, self.feature_kinds.count(kind)) for kind, label in kinds.items())
        features = ", ".join(f"{count:,} {label}" for label, count in counts if count)
        pairs = list(zip(self.class_names, self.class_counts, strict=True))
        classes = ", ".join(f"{name} {count:,}" for name, count in pairs[:10])
        more = f" and {len(pairs) - 10:,} more" if len(pairs) > 10 else ""
        return [
            f"{self.name}: {self.num_records:,} records, {self.num_features:,} features "
            f"({features}), {self.num_classes} classes ({classes}{more}).",
            *self.notes,
        ]
