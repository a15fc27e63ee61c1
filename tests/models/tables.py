"""Small tables for the tests of models and defences."""

import functools

import numpy as np

from mia_audit.data.dataset import Dataset


def make_table(X: np.ndarray, y: np.ndarray, num_classes: int) -> Dataset:
    """A data set around the given arrays."""
    return Dataset(
        name="table",
        X=np.ascontiguousarray(X, dtype=np.float32),
        y=y.astype(np.int64),
        feature_names=tuple(f"x{j}" for j in range(X.shape[1])),
        feature_kinds=("numeric",) * X.shape[1],
        class_names=tuple(map(str, range(num_classes))),
        rows=np.arange(len(X)),
        notes=(),
    )


def gaussian_table(
    num_records: int, num_features: int, num_classes: int, *, seed: int = 0, noise: float = 0.5
) -> Dataset:
    """Classes that a linear model mostly separates: argmax of a random projection plus noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((num_records, num_features))
    scores = X @ rng.standard_normal((num_features, num_classes))
    y = (scores + noise * rng.standard_normal(scores.shape)).argmax(1)
    return make_table(X, y, num_classes)


@functools.cache
def one_hot_table(num_records: int, num_features: int) -> Dataset:
    """A table shaped like encoded Adult: 6 numeric columns, the others one-hot in 8 groups."""
    rng = np.random.default_rng(0)
    numeric = rng.standard_normal((num_records, 6))
    groups = np.array_split(np.arange(6, num_features), 8)
    X = np.zeros((num_records, num_features))
    X[:, :6] = numeric
    for columns in groups:
        X[np.arange(num_records), rng.choice(columns, num_records)] = 1
    y = (X @ rng.standard_normal(num_features) + rng.standard_normal(num_records) > 0).astype(int)
    return make_table(X, y, 2)
