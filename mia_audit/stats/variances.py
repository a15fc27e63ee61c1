"""How LiRA turns a class's left-out scores into a density: one variance a record, one a model, or
a record's variance shrunk towards its model's (empirical Bayes, arXiv 2603.11799; Smyth 2004).

Each model kind answers `log_density` and `log_tail` of a class in a block, [M, w].
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, poch, polygamma, psi, stdtr

from mia_audit.stats.moments import (
    VARIANCE_FLOOR,
    Block,
    GivenBlock,
    Kind,
    Moments,
    moment_blocks,
)

VARIANCES = ("per_record", "global", "bayes")

# Stands for infinite degrees of freedom: keeps every formula finite, moves no digit that matters.
LARGEST_DF = 1e12
# Below this a t tail is about to underflow and its leading terms are exact to 1e-6 in the log.
SMALLEST_TAIL = 1e-290


@dataclass(frozen=True)
class PerRecordNormal:
    """Normal with each record's own variance."""

    def log_density(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        return _normal_log_density(*block.left_out(kind))

    def log_tail(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        deviation, variance = block.left_out(kind)
        return log_ndtr(-deviation / np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class GlobalNormal:
    """Normal with one variance a target model and class, float64 [M, 1]."""

    variance: dict[Kind, np.ndarray]

    def log_density(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        return _normal_log_density(block.left_out(kind)[0], self.variance[kind])

    def log_tail(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        return log_ndtr(-block.left_out(kind)[0] / np.sqrt(self.variance[kind]))


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of a class's variances under each target model: degrees ν₀ and s₀², float64 [M, 1]."""

    df: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True, eq=False)
class BayesT:
    """Student t of a new score, with the record's variance shrunk towards the model's prior."""

    prior: dict[Kind, Prior]

    def log_density(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        t, df, scale = self._standard(block, kind)
        return _t_log_density(t, df) - np.log(scale)

    def log_tail(self, block: Block | GivenBlock, kind: Kind) -> np.ndarray:
        t, df, _ = self._standard(block, kind)
        return t_log_tail(t, df)

    def _standard(
        self, block: Block | GivenBlock, kind: Kind
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(deviation in units of its scale, degrees of freedom, scale), [M, w]."""
        deviation, variance = block.left_out(kind)
        n, prior = block.shadows(kind).astype(np.float64), self.prior[kind]
        n[n < 2] = np.nan
        df = n - 1 + prior.df
        shrunk = (prior.df * prior.variance + (n - 1) * variance) / df
        scale = np.sqrt(np.maximum(shrunk, VARIANCE_FLOOR) * (1 + 1 / n))
        return deviation / scale, df, scale


def fit_variance(
    name: str,
    scores: np.ndarray,
    members: np.ndarray,
    moments: Moments | None,
    kinds: Iterable[Kind],
) -> PerRecordNormal | GlobalNormal | BayesT:
    """The variance model `name`, fitted to the classes `kinds` for every target at once.

    Raises ValueError for an unknown name.
    """
    match name:
        case "per_record":
            return PerRecordNormal()
        case "global":
            return GlobalNormal({k: _pooled(scores, members, moments, k) for k in kinds})
        case "bayes":
            return BayesT({k: _fit_prior(scores, members, moments, k) for k in kinds})
    raise ValueError(f"unknown variance {name!r}: choose one of {', '.join(VARIANCES)}.")


def _pooled(
    scores: np.ndarray, members: np.ndarray, moments: Moments | None, kind: Kind
) -> np.ndarray:
    """Σ_x SS / Σ_x (n − 1) for each target, [M, 1]."""
    squares, freedom = np.zeros((2, len(scores)))
    for block in moment_blocks(scores, members, moments):
        _, variance = block.left_out(kind)
        degrees = np.maximum(block.shadows(kind) - 1, 0)
        squares += np.where(degrees > 0, variance * degrees, 0.0).sum(axis=1)
        freedom += degrees.sum(axis=1)
    pooled = squares / np.where(freedom > 0, freedom, np.nan)
    return np.maximum(pooled, VARIANCE_FLOOR)[:, None]


def _fit_prior(
    scores: np.ndarray, members: np.ndarray, moments: Moments | None, kind: Kind
) -> Prior:
    """Smyth's moment fit on log variances, one prior a target; floored records are left out.

    With d = n − 1 and e = log s² − ψ(d/2) + log(d/2): trigamma(ν₀/2) = mean[(e − ē)² −
    trigamma(d/2)], s₀² = exp(ē + ψ(ν₀/2) − log(ν₀/2)).
    """
    count, total, squares, sampling = np.zeros((4, len(scores)))
    for block in moment_blocks(scores, members, moments):
        _, variance = block.left_out(kind)
        half = (block.shadows(kind) - 1) / 2
        used = variance > VARIANCE_FLOOR
        half, variance = np.where(used, half, 1.0), np.where(used, variance, 1.0)
        e = np.where(used, np.log(variance) - psi(half) + np.log(half), 0.0)
        count += used.sum(axis=1)
        total += e.sum(axis=1)
        squares += np.square(e).sum(axis=1)
        sampling += np.where(used, polygamma(1, half), 0.0).sum(axis=1)
    some = np.maximum(count, 1)
    mean = total / some
    half_df = _inverse_trigamma((squares - total * mean - sampling) / some)
    variance = np.exp(mean + psi(half_df) - np.log(half_df))
    # No usable record: no prior, every record keeps its own variance.
    return Prior(np.where(count > 0, 2 * half_df, 0.0)[:, None], variance[:, None])


def _inverse_trigamma(value: np.ndarray) -> np.ndarray:
    """y with trigamma(y) = value by Newton on 1/trigamma (Smyth 2004); value ≤ 0: the largest."""
    smallest = 2 / LARGEST_DF
    target = np.clip(value, smallest, 1e7)
    y = 0.5 + 1 / target
    for _ in range(50):
        trigamma = polygamma(1, y)
        step = trigamma * (1 - trigamma / target) / polygamma(2, y)
        y = y + step
        if np.all(np.abs(step) < 1e-12 * y):
            break
    return np.where(value <= smallest, LARGEST_DF / 2, y)


def t_log_tail(t: np.ndarray, df: np.ndarray) -> np.ndarray:
    """log P(T > t) for Student's t, finite however far out."""
    tail = stdtr(df, -t)
    far = tail < SMALLEST_TAIL
    if not far.any():
        return np.log(tail)
    result = np.log(np.where(far, 1.0, tail))
    df, t = np.broadcast_to(df, t.shape)[far], t[far]
    hazard = (df + 1) * t / (df + t * t)
    correction = 1 - (1 - df / (t * t)) / (df + 1)
    result[far] = _t_log_density(t, df) - np.log(hazard) - np.log(correction)
    return result


def _normal_log_density(deviation: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return -0.5 * (np.log(2 * np.pi * variance) + np.square(deviation) / variance)


def _t_log_density(t: np.ndarray, df: np.ndarray) -> np.ndarray:
    constant = np.log(poch(df / 2, 0.5)) - 0.5 * np.log(np.pi * df)
    return constant - (df + 1) / 2 * np.log1p(np.square(t) / df)
