"""What the attack achieves on each single record, under normal scores (closed form).

Arrays [N] per record; A levels α. Moments are each record's own over all models (`RecordMoments`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.panel import Panel, RecordMoments
from mia_audit.stats.record_judge import RecordJudge

NORMAL_QUANTILE = 1.96
LARGEST_NOISE = 0.95


@dataclass(frozen=True, eq=False)
class RecordTpr:
    """TPR of every record [N] at one level with 95 % limits; `score` is its probit."""

    score: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def tpr(self) -> NDArray[np.float64]:
        """[N] estimates."""
        return scipy.stats.norm.cdf(self.score)


def normal_record_tpr(records: RecordMoments, alpha: float) -> RecordTpr:
    """Analytic TPR of each record at FPR α for normal in and out scores.

    u = (Δ − σ_out·z_α)/σ_in has variance about w + u²/(2(n_in − 1)) with
    w = 1/n_in + (σ_out/σ_in)²(1/n_out + z_α²/(2(n_out − 1))). The estimate Φ(u/√(1 − w)) undoes the
    pull towards ½ that noise in u brings; limits are Φ(u ± 1.96 sd). nan without two models in
    either class.
    """
    quantile = scipy.stats.norm.isf(alpha)
    sd_in, sd_out = np.sqrt(records.var_in), np.sqrt(records.var_out)
    n_in, n_out = np.maximum(records.n_in, 2), np.maximum(records.n_out, 2)
    u = (records.delta - sd_out * quantile) / sd_in
    noise = 1 / n_in + records.var_out / records.var_in * (
        1 / n_out + quantile**2 / (2 * (n_out - 1))
    )
    spread = NORMAL_QUANTILE * np.sqrt(noise + u**2 / (2 * (n_in - 1)))
    score = u / np.sqrt(1 - np.minimum(noise, LARGEST_NOISE))
    return RecordTpr(score, scipy.stats.norm.cdf(u - spread), scipy.stats.norm.cdf(u + spread))


def negative_effects(records: RecordMoments) -> NDArray[np.bool_]:
    """[N] records whose score falls by more than two standard errors when they are members."""
    error = np.sqrt(records.var_in / records.n_in + records.var_out / records.n_out)
    return records.delta < -2 * error


def record_table(
    panel: Panel,
    judge: RecordJudge,
    fpr: NDArray[np.float64],
    fpr_naive: NDArray[np.float64],
    alphas: Sequence[float],
) -> dict[str, NDArray]:
    """What is known of each record: [A, N] and [N] arrays, see `Evaluation.records`."""
    analytic = [normal_record_tpr(panel.records, alpha) for alpha in alphas]
    inside, counts = panel.entries.inside, panel.entries.num_inside
    return {
        "tpr": np.array([found.tpr for found in analytic]),
        "lower": np.array([found.lower for found in analytic]),
        "upper": np.array([found.upper for found in analytic]),
        "tpr_empirical": np.array([judge.rates(alpha, inside, counts) for alpha in alphas]),
        "fpr": fpr,
        "fpr_naive": fpr_naive,
        "delta": panel.records.delta,
        "n_in": panel.records.n_in,
        "n_out": panel.records.n_out,
    }
