"""Contest of cut-off rules where records differ in shape: is there more TPR at the same FPR?

    OMP_NUM_THREADS=1 python -m tests.benchmarks.cutoffs [draws]

128 models set the cut-offs, 512 fresh ones are judged with all 128 as shadows. Every candidate but
exact t ends in conformal cut-offs over out entries, from statistics that leave the judged model
out, so its average FPR stays near α whatever the shapes are. A rule beats `conditional` where its
TPR is higher by more than three standard errors (over draws, paired) at FPR/α ≤ 1.05.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mia_audit.stats.cutoffs import (
    assign_bins,
    conformal_cutoff,
    exact_cutoffs,
    merge_bins,
    quantile_edges,
)

SHADOWS, TARGETS, RECORDS = 128, 512, 2_000
LEVELS = (0.1, 0.01, 0.001)
GRID = np.linspace(-3, 3, 601)


@dataclass(frozen=True, eq=False)
class Shapes:
    """What is known of entries [m, N] from the out shadows, the entry's own model left out."""

    z: NDArray
    covariate: NDArray
    skew: NDArray
    n: NDArray

    def pick(self, mask: NDArray) -> "Shapes":
        """The entries of a mask, flat."""
        return Shapes(self.z[mask], self.covariate[mask], self.skew[mask], self.n[mask])


def shapes(scores: NDArray, own: NDArray, shadows: NDArray, out: NDArray) -> Shapes:
    """Shapes of `scores` [m, N]; `own` marks those that are among the out shadows themselves."""
    origin = shadows.mean(axis=0)
    deviations = np.where(out, shadows - origin, 0.0)
    mine = np.where(own, scores - origin, 0.0)
    n = out.sum(axis=0) - own.astype(float)
    s1, s2, s3 = ((deviations**k).sum(axis=0) - mine**k for k in (1, 2, 3))
    mean, square = s1 / n, s2 / n
    m2 = square - mean**2
    m3 = s3 / n - 3 * mean * square + 2 * mean**3
    sd = np.sqrt(m2 * n / (n - 1))
    skew = m3 / m2**1.5 * np.sqrt(n * (n - 1)) / (n - 2)
    return Shapes((scores - origin - mean) / sd, (mean + origin) / sd, skew, n)


Statistic = Callable[[Shapes], NDArray]
Hits = Callable[[Shapes], NDArray]


def shrinker(fit: Shapes) -> Statistic:
    """Skewness pulled towards its regression on the covariate, by the share that is noise."""
    low, high = np.quantile(fit.covariate, [0.01, 0.99])

    def line(of: Shapes) -> NDArray:
        return offset + rise * np.clip(of.covariate, low, high)

    rise, offset = np.polyfit(np.clip(fit.covariate, low, high), fit.skew, 1)
    rest = fit.skew - line(fit)
    kept = max(0.0, 1 - float(np.mean(6 / fit.n)) / float(rest.var()))
    return lambda of: line(of) + kept * (of.skew - line(of))


def pooled(fit: Shapes, level: float, statistic: Statistic) -> Hits:
    """One conformal cut-off on a statistic."""
    cutoff = conformal_cutoff(np.sort(statistic(fit)), level)
    return lambda of: statistic(of) > cutoff


def binned(fit: Shapes, level: float, statistic: Statistic, by: Statistic, bins: int) -> Hits:
    """A conformal cut-off in each quantile bin of `by`, merged as `Conditional` does."""
    edges = quantile_edges(by(fit), bins)
    finest = assign_bins(by(fit), edges)
    merged = merge_bins(np.bincount(finest, minlength=bins), level)
    values, bin_of = statistic(fit), merged[finest]
    cutoffs = np.array(
        [conformal_cutoff(np.sort(values[bin_of == b]), level) for b in range(merged[-1] + 1)]
    )
    return lambda of: statistic(of) > cutoffs[merged[assign_bins(by(of), edges)]]


def less_quantile(fit: Shapes, level: float, quantiles: NDArray, shrink: Statistic) -> Statistic:
    """z less the α-quantile of a distribution with the record's shrunk skewness."""
    return lambda of: of.z - np.interp(shrink(of), GRID, quantiles)


def candidates(fit: Shapes, level: float) -> dict[str, Hits]:
    """Every rule, fitted to the out entries of the sweep."""
    z = lambda of: of.z  # noqa: E731
    covariate = lambda of: of.covariate  # noqa: E731
    shrink = shrinker(fit)
    point = stats.norm.isf(level)
    fisher = less_quantile(fit, level, point + GRID / 6 * (point**2 - 1), shrink)
    pearson = less_quantile(fit, level, stats.pearson3.isf(level, GRID), shrink)
    exact = exact_cutoffs(SHADOWS, level)
    return {
        "exact t": lambda of: of.z > exact[of.n.astype(int)],
        "empirical": pooled(fit, level, z),
        "conditional": binned(fit, level, z, covariate, 10),
        "20 bins": binned(fit, level, z, covariate, 20),
        "bins of skewness": binned(fit, level, z, shrink, 10),
        "20 bins of skewness": binned(fit, level, z, shrink, 20),
        "Cornish–Fisher": pooled(fit, level, fisher),
        "Pearson III": pooled(fit, level, pearson),
        "Pearson III in bins": binned(fit, level, pearson, covariate, 10),
        "Pearson III in skew bins": binned(fit, level, pearson, shrink, 10),
    }


def noise(world: str, rng: np.random.Generator, skew: NDArray, num_models: int) -> NDArray:
    """Standardised noise [M, N] of a world; gamma gives a record its skewness."""
    if world == "normal":
        return rng.standard_normal((num_models, skew.size))
    shape = 4 / np.maximum(np.abs(skew), 0.02) ** 2
    gamma = (rng.gamma(shape, size=(num_models, skew.size)) - shape) / np.sqrt(shape)
    if world == "skewed and heavy":
        gamma *= np.exp(0.25 * rng.standard_normal(gamma.shape) - 0.0625)
    return np.sign(skew) * gamma


def contest(world: str, seed: int) -> dict[tuple[str, float], tuple[float, float]]:
    """{(rule, α): (FPR, TPR)} on fresh targets of one draw."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((2, RECORDS))
    skew = 0.15 + 0.3 * (0.5 * latent[0] + np.sqrt(0.75) * latent[1])
    sd = np.exp(0.4 * rng.standard_normal(RECORDS))
    mean, effect = 3 * latent[0] * sd, rng.exponential(0.5, RECORDS) * sd
    members = rng.random((SHADOWS + TARGETS, RECORDS)) < 0.5
    scores = mean + effect * members + sd * noise(world, rng, skew, SHADOWS + TARGETS)
    train, out = scores[:SHADOWS], ~members[:SHADOWS]
    fit = shapes(train, out, train, out).pick(out)
    fresh = scores[SHADOWS:]
    judged = shapes(fresh, np.zeros(fresh.shape, dtype=bool), train, out)
    inside = members[SHADOWS:]
    found = {}
    for level in LEVELS:
        for rule, decide in candidates(fit, level).items():
            hits = decide(judged)
            found[rule, level] = float(hits[~inside].mean()), float(hits[inside].mean())
        if world != "skewed and heavy":
            known = skew if world == "skewed" else np.zeros(RECORDS)
            hits = (fresh - mean) / sd > stats.pearson3.isf(level, known)
            found["oracle", level] = float(hits[~inside].mean()), float(hits[inside].mean())
    return found


def main(draws: int) -> int:
    """Print the table of every world; exit status 0 always: this is a contest, not a limit."""
    for world in ("skewed", "skewed and heavy", "normal"):
        results = [contest(world, seed) for seed in range(draws)]
        for rule, level in sorted(results[0], key=lambda key: -key[1]):
            rates = np.array([r[rule, level] for r in results])
            gain = rates[:, 1] - np.array([r["conditional", level][1] for r in results])
            error = gain.std(ddof=1) / np.sqrt(draws)
            ratio = rates[:, 0].mean() / level
            wins = "  beats conditional" if ratio <= 1.05 and gain.mean() > 3 * error > 0 else ""
            print(
                f"{world:17s} α {level:5g} {rule:25s} FPR/α {ratio:.3f}  "
                f"TPR {rates[:, 1].mean():.4f}  gain {gain.mean():+.4f} ± {error:.4f}{wins}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
