"""How well the bundled in-context weights classify: mean AUC over random contexts of 500 rows.

python -m tests.benchmarks.in_context [ROUNDS] [CHECKPOINT]
"""

import sys
import warnings
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from mia_audit.data import Adult, CreditDefault, GermanCredit
from mia_audit.data.codes import category_codes
from mia_audit.data.pool import draw_pool
from mia_audit.models.tabpfn import BUNDLED, TabPFN

CONTEXT, QUERIES = 500, 1500


def in_context(checkpoint: str) -> Callable[..., np.ndarray]:
    """log p(class 1) of every record after seeing the context, through the model of the sweeps."""

    def scores(dataset, context: np.ndarray, seed: int) -> np.ndarray:
        outputs = TabPFN(checkpoint).train(
            dataset, context[None], np.array([seed]), num_train=CONTEXT
        )
        return outputs.values[0, :, 1] - outputs.values[0, :, 0]

    return scores


def fitted(estimator, encode=lambda dataset: dataset.X) -> Callable[..., np.ndarray]:
    """p(class 1) of every record by an estimator fitted to the context alone."""

    def scores(dataset, context: np.ndarray, seed: int) -> np.ndarray:
        X = encode(dataset)
        estimator.fit(X[context], dataset.y[context])
        return estimator.predict_proba(X)[:, 1]

    return scores


def main(rounds: int, checkpoint: str) -> None:
    warnings.simplefilter("ignore")
    models = {
        "in context": in_context(checkpoint),
        "logistic, codes": fitted(LogisticRegression(max_iter=2000), category_codes),
        "logistic, one-hot": fitted(LogisticRegression(max_iter=2000)),
        "boosting, one-hot": fitted(HistGradientBoostingClassifier(random_state=0)),
    }
    table = Table("AUC", *models)
    for noun in (Adult, CreditDefault, GermanCredit):
        whole = noun().load()
        auc = {name: [] for name in models}
        for seed in range(rounds):
            size = min(CONTEXT + QUERIES, whole.num_records)
            pool = draw_pool(whole, size, seed=seed)
            context = np.zeros(size, dtype=bool)
            context[np.random.default_rng(seed).permutation(size)[:CONTEXT]] = True
            for name, scores in models.items():
                asked = scores(pool, context, seed)[~context]
                auc[name].append(roc_auc_score(pool.y[~context], asked))
        table.add_row(
            whole.name,
            *(f"{np.mean(a):.3f} ± {np.std(a) / np.sqrt(rounds):.3f}" for a in auc.values()),
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 20,
        sys.argv[2] if len(sys.argv) > 2 else BUNDLED,
    )
