"""Conditional quantiles of scores given a few covariates: linear in splines, fitted in the tail.

The check function is smoothed by a Gaussian (convolution smoothing, arXiv 2012.05187), which
Newton's method minimises. Entries far below any quantile that comes into question enter through
the sum of their columns alone, so a fit costs what its tail costs.

Letters: n entries, K covariates, P columns, F folds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

BANDWIDTH = 0.1  # in units of the standardised score
RIDGE = 1e-6
NEWTON_STEPS = 40
TOLERANCE = 0.01  # of a weight, in units of the score
KINKS = 3  # at the quartiles of a covariate
REACH = 8.0  # a covariate counts no further than this many quartile widths from its median


@dataclass(frozen=True, eq=False)
class Basis:
    """K covariates in units of their quartile widths, cut off in the tails; arrays [K].

    One that hardly varies between its quartiles is cut off at its median: it says nothing.

    Columns: 1; for each covariate x, x² and what it exceeds each quartile by; products of pairs.
    """

    low: Floats
    high: Floats
    centre: Floats
    width: Floats
    kinks: Floats  # [K, 3], in units

    @classmethod
    def of(cls, covariates: NDArray) -> "Basis":
        """From the covariates [K, n] of the entries to fit."""
        marks = np.quantile(covariates.astype(np.float64), [0.005, 0.25, 0.5, 0.75, 0.995], axis=1)
        centre, width = marks[2], marks[3] - marks[1]
        still = width <= 1e-6 * np.maximum(np.abs(centre), 1)
        width[still] = 1
        # A few records without any spread would else reach a million widths, squared in a column.
        units = np.where(still, 0, np.clip((marks - centre) / width, -REACH, REACH))
        low, *kinks, high = units
        return cls(low, high, centre, width, np.stack(kinks, axis=1))

    @property
    def num_columns(self) -> int:
        """P."""
        size = len(self.centre)
        return 1 + (2 + KINKS) * size + size * (size - 1) // 2

    def design(self, covariates: NDArray) -> Floats:
        """[n, P] columns of entries given by their covariates [K, n]."""
        columns = [np.ones(covariates.shape[1])]
        units = [self._units(k, values.astype(np.float64)) for k, values in enumerate(covariates)]
        for k, x in enumerate(units):
            columns += [x, x * x, *(np.maximum(x - kink, 0) for kink in self.kinks[k])]
        columns += [units[i] * units[j] for i in range(len(units)) for j in range(i)]
        return np.stack(columns, axis=1)

    def surface(
        self, covariates: NDArray[np.float32], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """design · weights [P] of entries given by covariates [K, n], without the design."""
        terms = iter(weights)
        height = np.full(covariates.shape[1], next(terms))
        units = [self._units(k, values) for k, values in enumerate(covariates)]
        for k, x in enumerate(units):
            part = next(terms) + x * next(terms)
            part *= x
            height += part
            for kink in self.kinks[k].astype(np.float32):
                np.subtract(x, kink, out=part)
                np.maximum(part, np.float32(0), out=part)
                part *= next(terms)
                height += part
        for i in range(len(units)):
            for j in range(i):
                np.multiply(units[i], units[j], out=part)
                part *= next(terms)
                height += part
        return height

    def _units(self, k: int, values: NDArray) -> NDArray:
        kind = values.dtype.type
        x = (values - kind(self.centre[k])) * kind(1 / self.width[k])
        return np.clip(x, kind(self.low[k]), kind(self.high[k]), out=x)


@dataclass(frozen=True, eq=False)
class Tail:
    """Entries to fit: those near the quantile one by one, those far below it as sums by fold."""

    design: Floats  # [n, P]
    values: Floats  # [n]
    weight: Floats  # [n], how many entries of the whole each stands for
    fold: NDArray[np.int64]  # [n]
    below: Floats  # [F, P], weighted sums of the columns of the entries far below
    total: Floats  # [F], weights of all entries


def cross_fitted(tail: Tail, level: float) -> Floats:
    """[F, P] weights of the upper `level` quantile, each from the entries of the other folds."""
    start = np.zeros(tail.design.shape[1])
    order = np.argsort(tail.values)[::-1]
    above = np.cumsum(tail.weight[order]) / tail.total.sum()
    start[0] = tail.values[order[min(int(np.searchsorted(above, level)), len(order) - 1)]]
    everything = np.full(len(tail.total), True)
    start = _fit(tail, level, everything, start)
    folds = np.arange(len(tail.total))
    return np.array([_fit(tail, level, folds != left, start) for left in folds])


def _fit(tail: Tail, level: float, kept: NDArray[np.bool_], start: Floats) -> Floats:
    """Newton steps, halved until the loss falls: in a thin tail whole ones run away."""
    total = tail.total[kept].sum()
    weight = tail.weight * kept[tail.fold] / total
    below = level * tail.below[kept].sum(axis=0) / total
    at, found = start, _smoothed_loss(tail, level, weight, below, start)
    for _ in range(NEWTON_STEPS):
        loss, slope, curvature = found
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]  # columns may depend on each other
        share = 1.0
        found = _smoothed_loss(tail, level, weight, below, at - step)
        while found[0] > loss and share > 1e-4:
            share /= 2
            found = _smoothed_loss(tail, level, weight, below, at - share * step)
        if found[0] > loss:
            break
        at = at - share * step
        if np.abs(share * step).max() < TOLERANCE:
            break
    return at


def _smoothed_loss(
    tail: Tail, level: float, weight: Floats, below: Floats, at: Floats
) -> tuple[float, Floats, Floats]:
    """The loss, its gradient and its curvature."""
    rest = tail.values - tail.design @ at
    scaled = rest / BANDWIDTH
    under = ndtr(-scaled)
    density = np.exp(-0.5 * scaled * scaled) / np.sqrt(2 * np.pi)
    loss = float(weight @ (BANDWIDTH * density + rest * (1 - level - under)))
    loss += float(below @ at) + 0.5 * RIDGE * float(at @ at)
    slope = tail.design.T @ (weight * (under - (1 - level))) + below + RIDGE * at
    curvature = (tail.design * (weight * density / BANDWIDTH)[:, None]).T @ tail.design
    curvature[np.diag_indices_from(curvature)] += RIDGE
    return loss, slope, curvature
