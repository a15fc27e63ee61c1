"""Do calibration and candidates come from the same source?  A classifier two-sample test.

The guarantee of a selection needs calibration records that are like the candidate non-members.
Where a classifier can tell calibration from candidates by covariates, they may not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from mia_audit.identify.direction import pairs_won

if TYPE_CHECKING:
    import pandas as pd

MOST_RECORDS = 10_000  # of each side; more would only take longer
LEAST_RECORDS = 20
MOST_CATEGORIES = 50  # the most frequent values of a text column; the others count as one
WARN_BELOW = 0.01


@dataclass(frozen=True)
class Exchangeability:
    """Cross-validated AUC of telling candidates from calibration, and its one-sided p-value."""

    auc: float
    p_value: float
    columns: tuple[str, ...]

    @property
    def warning(self) -> str:
        """A sentence for the reader, "" where the two cannot be told apart."""
        if self.p_value >= WARN_BELOW:
            return ""
        return (
            f"Calibration and candidates can be told apart by {', '.join(self.columns)} (AUC"
            f" {self.auc:.2f}, where 0.5 means alike; p = {self.p_value:.1g}). The guarantee needs"
            " calibration records drawn like the candidates that are not training data: unless the"
            " training data themselves explain the difference, do not rely on it."
        )


def check_comparable(num_calibration: int, num_candidates: int) -> None:
    """ValueError for fewer than 20 records on a side."""
    if min(num_calibration, num_candidates) < LEAST_RECORDS:
        raise ValueError(
            f"covariates: comparing {num_calibration:,} calibration records with"
            f" {num_candidates:,} candidates tells nothing; give at least {LEAST_RECORDS} of each"
            " or leave covariates out."
        )


def compare_covariates(
    calibration: pd.DataFrame, candidates: pd.DataFrame, *, seed: int
) -> Exchangeability:
    """Test whether the same columns of two tables can be told apart by gradient-boosted trees.

    The trees are fitted to one half and judged on the other by Mann and Whitney's test, both ways
    round; the p-value is twice the smaller one, right whatever joins the two.  (Adding z-scores
    over folds is not: 17 % of p-values below .05 where the tables are alike.)  At most 10,000
    records of each table are drawn.
    Source: Lopez-Paz & Oquab 2017 (arXiv 1610.06545), with ranks instead of accuracy.
    """
    rng = np.random.default_rng(seed)
    first, second = _drawn(calibration, rng), _drawn(candidates, rng)
    assert min(len(first), len(second)) >= LEAST_RECORDS
    X = np.concatenate(_encoded(first, second))
    y = np.repeat([0, 1], [len(first), len(second)])
    won, z = np.array(list(_halves(X, y, seed))).T
    p_value = min(1.0, 2 * float(norm.sf(z.max())))
    return Exchangeability(float(won.mean()), p_value, tuple(map(str, calibration.columns)))


def _drawn(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    if len(frame) <= MOST_RECORDS:
        return frame
    return frame.iloc[np.sort(rng.choice(len(frame), MOST_RECORDS, replace=False))]


def _encoded(
    first: pd.DataFrame, second: pd.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers as they are (NaN allowed), text as the rank of its frequency over both tables."""
    import pandas as pd

    both = pd.concat([first, second], ignore_index=True)
    for name in both.columns:
        if both[name].dtype.kind in "iufb":
            continue
        text = both[name].astype(str)
        order = text.value_counts().index[:MOST_CATEGORIES]
        both[name] = text.map(dict(zip(order, range(len(order)), strict=True))).fillna(len(order))
    table = both.to_numpy(dtype=np.float64, na_value=np.nan)
    return table[: len(first)], table[len(first) :]


def _halves(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int
) -> Iterator[tuple[float, float]]:
    """Share of pairs won by candidates, and its z-score, on each held-out half."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

    for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(X, y):
        trees = HistGradientBoostingClassifier(
            max_iter=50, max_leaf_nodes=8, early_stopping=False, random_state=seed
        ).fit(X[train], y[train])
        margin = trees.decision_function(X[test])
        yield pairs_won(margin[y[test] == 1], margin[y[test] == 0])
