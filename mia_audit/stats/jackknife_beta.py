"""The bootstrapped jackknife beta-kernel estimate of the non-member share (arXiv 2510.09717 v2).

The density of p at 1 is the non-member share.  A beta kernel at the boundary estimates it with
bandwidths b and γb; a jackknife step removes the leading bias; a bootstrap chooses γ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GAMMAS = (1.1, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0)
NUM_BOOTSTRAPS = 50


def jackknife_beta_share(p_values: Floats, *, seed: int) -> float:
    """π̂₀ in [.05, 1] from conformal p-values [m]; the bootstrap resamples come from ``seed``."""
    p_values = np.clip(p_values, 1e-10, 1 - 1e-10)
    m = p_values.size
    rows = np.random.default_rng(seed).integers(m, size=(NUM_BOOTSTRAPS, m))
    log_p = np.log(p_values)[rows]
    shares = np.array([_share(log_p, gamma) for gamma in GAMMAS])  # [γ, bootstrap]
    mean, sd = shares.mean(axis=1), shares.std(axis=1)
    weight = np.clip(2 * (0.5 - p_values.mean()), 0.1, 1)
    criterion = mean + weight * np.sqrt(sd / (np.ptp(sd) + 1e-6))
    return float(np.clip(mean[np.argmin(criterion)], 0.05, 1))


def _share(log_p: Floats, gamma: float) -> Floats:
    """π̂₀(γ) of every bootstrap sample, log p [bootstrap, m]."""
    bandwidth = _bandwidth(log_p, gamma)
    narrow, wide = _density_at_one(log_p, bandwidth), _density_at_one(log_p, gamma * bandwidth)
    return np.clip((gamma * narrow - wide) / (gamma - 1), 0, 1)


def _density_at_one(log_p: Floats, bandwidth: Floats) -> Floats:
    """g(h) = mean (1/h + 1)·p^{1/h}, one h a bootstrap sample."""
    kernel = np.exp(log_p / bandwidth[:, None])
    return (1 / bandwidth + 1) * kernel.mean(axis=1)


def _bandwidth(log_p: Floats, gamma: float) -> Floats:
    """The optimal b under a beta(c, 1) density, c by maximum likelihood, away from c = 1."""
    m = log_p.shape[1]
    c = np.maximum(-m / log_p.sum(axis=1), 0.1)
    c = np.where((c > 0.95) & (c < 1.05), 1.05, c)
    first, second = gamma / (gamma - 1), -1 / (gamma - 1)
    omega = first**2 / 2 + second**2 / (2 * gamma) + 2 * first * second / (gamma + 1)
    b = (omega / (4 * m * c * (c - 1) ** 4 * gamma**2 + 1e-12)) ** 0.2
    return np.clip(b, 0.001, 0.8 / gamma)
