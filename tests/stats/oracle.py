"""Slow plain references: one target and one record at a time, in float64, as the text says."""

import numpy as np
from scipy import optimize, special, stats

FLOOR = 1e-12


def random_case(
    seed: int, num_models: int = 23, num_records: int = 41, dtype: type = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """Scores [M, N] with large offsets and unequal variances, and Bernoulli members."""
    rng = np.random.default_rng(seed)
    offset = rng.normal(0, 1e3, num_records)
    sd = rng.lognormal(0, 1, (2, num_records))
    members = rng.random((num_models, num_records)) < 0.5
    # Every record gets enough shadows of both classes.
    members[:4], members[4:8] = True, False
    noise = rng.standard_normal((num_models, num_records))
    scores = offset + np.where(members, 1 + sd[0] * noise, sd[1] * noise)
    return scores.astype(dtype), members


def shadows(scores: np.ndarray, members: np.ndarray, m: int, x: int) -> tuple[np.ndarray, ...]:
    """In and out scores of record x over all models but m."""
    others = np.arange(len(scores)) != m
    column = scores[:, x].astype(np.float64)
    return column[others & members[:, x]], column[others & ~members[:, x]]


def variance(values: np.ndarray, ddof: int = 1) -> float:
    return max(float(values.var(ddof=ddof)), FLOOR)


def each_entry(function, scores, members) -> np.ndarray:
    """function(score, in scores, out scores) of every entry, [M, N]."""
    M, N = scores.shape
    return np.array(
        [
            [function(float(scores[m, x]), *shadows(scores, members, m, x)) for x in range(N)]
            for m in range(M)
        ]
    )


def normal_log_density(value: float, mean: float, sd: float) -> float:
    return -0.5 * np.log(2 * np.pi) - np.log(sd) - (value - mean) ** 2 / (2 * sd**2)


def lira(scores, members) -> np.ndarray:
    return each_entry(
        lambda t, i, o: (
            normal_log_density(t, i.mean(), np.sqrt(variance(i)))
            - normal_log_density(t, o.mean(), np.sqrt(variance(o)))
        ),
        scores,
        members,
    )


def lira_offline(scores, members) -> np.ndarray:
    return each_entry(
        lambda t, i, o: -stats.norm.logsf(t, o.mean(), np.sqrt(variance(o))), scores, members
    )


def lira_global(scores, members) -> np.ndarray:
    result = np.empty(scores.shape)
    M, N = scores.shape
    for m in range(M):
        classes = [shadows(scores, members, m, x) for x in range(N)]
        sd = [
            np.sqrt(
                sum(((c[k] - c[k].mean()) ** 2).sum() for c in classes)
                / sum(len(c[k]) - 1 for c in classes)
            )
            for k in (0, 1)
        ]
        for x, (i, o) in enumerate(classes):
            result[m, x] = normal_log_density(scores[m, x], i.mean(), sd[0]) - normal_log_density(
                scores[m, x], o.mean(), sd[1]
            )
    return result


def prior(variances: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """ν₀ and s₀² of Smyth (2004), the equation solved by bracketing; ν₀ = ∞ where there is none."""
    used = variances > FLOOR
    half = (counts[used] - 1) / 2
    e = np.log(variances[used]) - special.psi(half) + np.log(half)
    excess = np.mean((e - e.mean()) ** 2 - special.polygamma(1, half))
    if excess <= 0:
        return np.inf, float(np.exp(e.mean()))
    root = optimize.brentq(lambda y: special.polygamma(1, y) - excess, 1e-6, 1e9, xtol=1e-14)
    return 2 * root, float(np.exp(e.mean() + special.psi(root) - np.log(root)))


def lira_bayes(scores, members) -> np.ndarray:
    result = np.empty(scores.shape)
    M, N = scores.shape
    for m in range(M):
        classes = [shadows(scores, members, m, x) for x in range(N)]
        priors = [
            prior(
                np.array([variance(c[k]) for c in classes]), np.array([len(c[k]) for c in classes])
            )
            for k in (0, 1)
        ]
        for x, pair in enumerate(classes):
            log_density = [_t_log_density(scores[m, x], *p) for p in zip(pair, priors, strict=True)]
            result[m, x] = log_density[0] - log_density[1]
    return result


def _t_log_density(score: float, values: np.ndarray, fitted: tuple[float, float]) -> float:
    df, centre = fitted
    n, d = len(values), len(values) - 1
    if np.isinf(df):
        return normal_log_density(score, values.mean(), np.sqrt(centre * (1 + 1 / n)))
    shrunk = (df * centre + d * variance(values)) / (df + d)
    return stats.t.logpdf(score, df + d, values.mean(), np.sqrt(shrunk * (1 + 1 / n)))


def rmia(log_confidences, members, gamma=1.0, offline_a=None, reference=None) -> np.ndarray:
    p = np.exp(log_confidences.astype(np.float64))
    M, N = p.shape
    result = np.empty((M, N))
    for m in range(M):
        classes = [shadows(p, members, m, x) for x in range(N)]
        if offline_a is None:
            mean = np.array([(i.mean() + o.mean()) / 2 for i, o in classes])
        else:
            mean = np.array(
                [((1 + offline_a) * o.mean() + (1 - offline_a)) / 2 for _, o in classes]
            )
        ratio = p[m] / mean
        against = ratio
        if reference is not None:
            q = np.exp(reference)
            against = q[m] / np.delete(q, m, axis=0).mean(axis=0)
        for x in range(N):
            result[m, x] = np.mean(np.log(ratio[x]) - np.log(against) >= np.log(gamma))
    return result


def base(log_confidences) -> np.ndarray:
    p = np.exp(log_confidences.astype(np.float64))
    return np.array(
        [np.log(p[m]) - np.log(np.delete(p, m, axis=0).mean(axis=0)) for m in range(len(p))]
    )
