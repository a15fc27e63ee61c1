"""python -m tests.benchmarks.linear — 256 logistic regressions, together and one by one.

The reference is scikit-learn's LogisticRegression at the tolerance it needs for coefficients
within 1e-4 of the optimum, which ours are; its default tolerance (off by 0.07) is shown beside.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from mia_audit.models.linear import Logistic
from tests.benchmarks.alternate import Variant, alternate, print_table
from tests.models.tables import one_hot_table

NUM_MODELS, NUM_RECORDS, FEATURES, LEAST = 256, 10_000, 104, 10.0
TIMED = 16


def main() -> int:
    """Print the table; exit status 1 if the ratio is missed."""
    torch.set_num_threads(1)
    data = one_hot_table(NUM_RECORDS, FEATURES)
    members = np.random.default_rng(0).random((NUM_MODELS, NUM_RECORDS)) < 0.5
    model = Logistic()
    stack = model.stack("cpu")

    def one_by_one(tolerance: float) -> None:
        for row in members[:: NUM_MODELS // TIMED]:
            fitted = LogisticRegression(tol=tolerance, max_iter=1000)
            fitted.fit(data.X[row].astype(float), data.y[row])

    def together() -> None:
        for start in range(0, NUM_MODELS, stack):
            part = members[start : start + stack]
            model.fit(data, part, np.arange(len(part)), num_train=NUM_RECORDS // 2)

    ours = f"stacks of {stack}"
    variants = [
        Variant("scikit-learn to 1e-4", lambda: one_by_one(1e-6), TIMED / NUM_MODELS),
        Variant("scikit-learn, default", lambda: one_by_one(1e-4), TIMED / NUM_MODELS),
        Variant(ours, together),
    ]
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    title = f"logistic regression, {NUM_MODELS} models, {NUM_RECORDS // 2} records, {FEATURES}"
    return (
        0
        if print_table(f"{title} features", alternate(variants, rounds=rounds), {ours: LEAST})
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
