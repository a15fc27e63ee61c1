"""The data set's digest, subsets and summary."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mia_audit.data import Dataset


@pytest.fixture
def dataset() -> Dataset:
    return Dataset(
        name="toy",
        X=np.array([[0, 1], [2, 3], [4, 5]], dtype=np.float32),
        y=np.array([0, 1, 0]),
        feature_names=("a", "b"),
        feature_kinds=("numeric", "one_hot"),
        class_names=("no", "yes"),
        rows=np.array([7, 8, 9]),
        notes=("A toy.",),
    )


def test_equal_content_has_equal_digest(dataset: Dataset) -> None:
    fortran = replace(dataset, X=np.asfortranarray(dataset.X.copy()), y=dataset.y.copy())
    assert fortran.digest == dataset.digest
    assert len(dataset.digest) == 64
    assert replace(dataset, name="moved", notes=()).digest == dataset.digest


def test_any_change_of_content_changes_the_digest(dataset: Dataset) -> None:
    X = dataset.X.copy()
    X[2, 1] = np.nextafter(X[2, 1], np.float32(9))
    changed = [
        replace(dataset, X=X),
        replace(dataset, y=np.array([0, 1, 1])),
        replace(dataset, rows=np.array([7, 8, 10])),
        replace(dataset, feature_names=("a", "c")),
        replace(dataset, feature_kinds=("numeric", "code")),
        replace(dataset, class_names=("no", "maybe")),
        dataset.take([0, 1]),
        dataset.take([1, 0, 2]),
    ]
    digests = {dataset.digest, *(other.digest for other in changed)}
    assert len(digests) == 1 + len(changed)


def test_take_keeps_the_source_rows(dataset: Dataset) -> None:
    taken = dataset.take([2, 0]).take(np.array([1]))
    assert taken.rows.tolist() == [7]
    np.testing.assert_array_equal(taken.X, [[0, 1]])
    assert taken.class_names == ("no", "yes")


def test_profile_and_summary_count_classes(dataset: Dataset) -> None:
    profile = dataset.profile()
    assert profile["num_records"] == 3
    assert profile["num_features"] == 2
    assert profile["class_counts"] == {"no": 2, "yes": 1}
    first, *notes = dataset.summary()
    assert first == "toy: 3 records, 2 features (1 numeric, 1 one-hot), 2 classes (no 2, yes 1)."
    assert notes == ["A toy."]


def test_importing_the_data_package_stays_light() -> None:
    code = (
        "import sys, mia_audit.data; heavy = 'pandas', 'pyarrow', 'sklearn', 'torch', 'fsspec'; "
        "print([name for name in heavy if name in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"
