"""Whether out scores are as normal as the normal-theory rules assume.

Each leave-one-out out score becomes a normal score g = Φ⁻¹(T_{n−1}(z/√(1+1/n))), which is standard
normal at any number n of out shadows if the scores are normal. The upper tail of g is what the
cut-offs z_α and exact t rely on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mia_audit.stats.blocks import BLOCK_ENTRIES
from mia_audit.stats.intervals import Clustered
from mia_audit.stats.judges import ExactStudentJudge
from mia_audit.stats.panel import Panel, sample_of
from mia_audit.stats.threads import column_slices, in_threads

LEVELS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0001)
FLOORED_LIMIT = 0.01
EXPECTED_IN_TAIL = 25
MOST_SCORES = 400_000


@dataclass(frozen=True, eq=False)
class Normality:
    """Shape of the out scores.

    `skewness`, `excess_kurtosis`: means over records of the bias-corrected sample values (0 for
    normal scores). `tail_ratio`: achieved FPR of the exact-t rule over α at the smallest level with
    enough scores; above 1 the upper tail is heavier than normal. `warning`: a sentence, or empty.
    `expected`, `observed`: upper quantiles of a normal and of the normal scores g, for a QQ plot.
    """

    skewness: float
    excess_kurtosis: float
    tail_ratio: float
    warning: str
    expected: NDArray[np.float64]
    observed: NDArray[np.float64]


def check_normality(panel: Panel, z: NDArray, alphas: Sequence[float]) -> Normality:
    """Summary of the out scores of a panel, and a warning where normal theory would mislead.

    `z` [M, N] are its standardised scores.
    """
    sample = panel.sample
    skewness, kurtosis = mean_shape(panel.scores[:, sample], panel.entries.outside[:, sample])
    num_out = panel.entries.num_outside.total
    usable = [a for a in alphas if a * num_out >= EXPECTED_IN_TAIL] or [max(alphas)]
    level = min(usable)
    judge = ExactStudentJudge(z, panel.entries, panel.records.n_out)
    judged = judge(level)
    lower, _ = Clustered().bounds(judge, judged, level).fpr
    ratio = judged.fpr / level
    expected = np.asarray(scipy.stats.norm.isf(LEVELS))
    return Normality(
        skewness,
        kurtosis,
        ratio,
        warning_text(ratio, lower / level, level, panel.floored_share),
        expected,
        normal_score_quantiles(panel, z),
    )


def warning_text(ratio: float, ratio_lower: float, level: float, floored: float) -> str:
    """One or two sentences where the tail is clearly heavier or variances are floored."""
    parts = []
    if ratio_lower > 1 and ratio > 1.1:
        parts.append(
            "Out scores have a heavier upper tail than the normal: the exact-t rule reaches an "
            f"FPR of {ratio * level:.2g} at α = {level:g}; normal-theory rows claim too little."
        )
    if floored > FLOORED_LIMIT:
        parts.append(
            f"{floored:.1%} of the entries have no variance among their shadow models (saturated "
            "scores); normal theory does not hold for them."
        )
    return " ".join(parts)


def mean_shape(scores: NDArray, outside: NDArray[np.bool_]) -> tuple[float, float]:
    """Mean over records of the bias-corrected skewness G1 and excess kurtosis G2 of out scores.

    Records with fewer than four valid out scores or with constant ones are left out; nan, nan
    when none is left.
    """

    def of(columns: slice) -> NDArray[np.float64]:
        return record_shapes(scores[:, columns], outside[:, columns])

    found = np.concatenate(in_threads(of, column_slices(scores.shape, BLOCK_ENTRIES)), axis=1)
    if not found.size:
        return float("nan"), float("nan")
    return float(found[0].mean()), float(found[1].mean())


def record_shapes(scores: NDArray, outside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[2, K] skewness G1 and excess kurtosis G2 of the K records of [M, w] that have any."""
    n = outside.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(outside, scores, 0.0).astype(float)
        centred = np.where(outside, values - values.sum(axis=0) / n, 0.0)
        squared = centred * centred
        m2 = squared.sum(axis=0) / n
        m3 = np.einsum("mn,mn->n", squared, centred) / n
        m4 = np.einsum("mn,mn->n", squared, squared) / n
        known = (n >= 4) & (m2 > 1e-12)
        g1, g2 = m3 / m2**1.5, m4 / m2**2 - 3
        skewness = g1 * np.sqrt(n * (n - 1)) / (n - 2)
        kurtosis = ((n + 1) * g2 + 6) * (n - 1) / ((n - 2) * (n - 3))
    return np.stack([skewness[known], kurtosis[known]])


def normal_score_quantiles(panel: Panel, z: NDArray) -> NDArray[np.float64]:
    """Upper quantiles of g over valid out entries at `LEVELS`, from some of the records.

    At most about `MOST_SCORES` entries are looked at; a level with fewer than ten above it is nan.
    """
    step = max(1, z.size // MOST_SCORES)
    records = sample_of(z.shape[1], -(-z.shape[1] // step))
    outside = panel.entries.outside[:, records]
    if not outside.any():
        return np.full(len(LEVELS), np.nan)
    n = np.broadcast_to(panel.records.n_out[records] - 1, outside.shape)[outside]
    chosen = z[:, records][outside].astype(np.float64)
    upper_tail = scipy.stats.t.sf(chosen / np.sqrt(1 + 1 / n), n - 1)
    largest = np.finfo(np.float64).max  # quantiles cannot be interpolated between infinities
    g = np.clip(np.asarray(scipy.stats.norm.isf(upper_tail)), -largest / 4, largest / 4)
    quantiles = np.quantile(g, 1 - np.array(LEVELS))
    quantiles[np.abs(quantiles) > largest / 8] = np.inf
    above = np.array(LEVELS) * g.size
    return np.where(above >= 10, quantiles, np.nan)
