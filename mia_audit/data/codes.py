"""Categories as integer codes again, for models that take a table as it is (TabPFN)."""

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.dataset import Dataset


def category_codes(dataset: Dataset) -> NDArray[np.float32]:
    """float32 [N, columns of the table]: each one-hot block becomes its level's number.

    A block is a run of one-hot features named after one column of which every record has exactly
    one set; whatever is none (a lone ``column=missing``) stays as it is.
    """
    column_of = [
        name.partition("=")[0] if kind == "one_hot" else at
        for at, (name, kind) in enumerate(
            zip(dataset.feature_names, dataset.feature_kinds, strict=True)
        )
    ]
    parts = []
    for _, run in groupby(range(dataset.num_features), key=column_of.__getitem__):
        block = dataset.X[:, list(run)]
        whole = block.shape[1] > 1 and bool((np.count_nonzero(block, axis=1) == 1).all())
        parts.append(block.argmax(1, keepdims=True) if whole else block)
    return np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind")
