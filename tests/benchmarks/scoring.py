"""Scoring every model as target: one pass over the matrix against the usual loops.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.scoring

The loops take minutes, so they are timed on a seeded random subset of 16 targets and scaled; the
table's share column says so.
"""

import os
import sys
import tracemalloc
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from mia_audit.stats import draw_members, lira
from tests.benchmarks.alternate import Variant, alternate, print_table

NUM_TARGETS = 16
MEMORY_LIMIT_MB = 200
ROUNDS = 5


def synthetic(num_models: int, num_records: int) -> tuple[np.ndarray, np.ndarray]:
    """float32 scores with unequal locations, spreads and effects, and Bernoulli members."""
    rng = np.random.default_rng(0)
    members = draw_members(num_models, num_records)
    sd = 0.2 + rng.gamma(2.0, 0.3, num_records)
    scores = rng.normal(3, 3, num_records) + members * rng.exponential(0.4, num_records)
    scores += sd * rng.standard_normal(members.shape)
    return scores.astype(np.float32), members


def per_target(scores: np.ndarray, members: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Vectorised over records, float64 moments recomputed for every target."""
    scores = scores.astype(np.float64)
    result = np.empty((len(targets), scores.shape[1]))
    for row, m in enumerate(targets):
        others = np.arange(len(scores)) != m
        shadow, inside = scores[others], members[others]
        n_in, n_out = inside.sum(axis=0), (~inside).sum(axis=0)
        mean_in = np.where(inside, shadow, 0).sum(axis=0) / n_in
        mean_out = np.where(inside, 0, shadow).sum(axis=0) / n_out
        var_in = np.where(inside, (shadow - mean_in) ** 2, 0).sum(axis=0) / (n_in - 1)
        var_out = np.where(inside, 0, (shadow - mean_out) ** 2).sum(axis=0) / (n_out - 1)
        result[row] = _log_ratio(scores[m], mean_in, var_in, mean_out, var_out)
    return result


def per_record(scores: np.ndarray, members: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """A Python loop over records for every target, the shape of the LiRA reference code."""
    result = np.empty((len(targets), scores.shape[1]))
    for row, m in enumerate(targets):
        others = np.arange(len(scores)) != m
        shadow, keep = scores[others].astype(np.float64), members[others]
        inside = [shadow[keep[:, x], x] for x in range(scores.shape[1])]
        outside = [shadow[~keep[:, x], x] for x in range(scores.shape[1])]
        for x, (i, o) in enumerate(zip(inside, outside, strict=True)):
            result[row, x] = _log_ratio(
                np.float64(scores[m, x]), i.mean(), i.var(ddof=1), o.mean(), o.var(ddof=1)
            )
    return result


def _log_ratio(
    score: np.ndarray,
    mean_in: np.ndarray,
    var_in: np.ndarray,
    mean_out: np.ndarray,
    var_out: np.ndarray,
) -> np.ndarray:
    z_in, z_out = (score - mean_in) ** 2 / var_in, (score - mean_out) ** 2 / var_out
    return 0.5 * (np.log(var_out) - np.log(var_in) + z_out - z_in)


Loop = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def compare(num_models: int, num_records: int, reference: Loop, limit: float) -> bool:
    """Check equality on the timed targets, then time both and print the table."""
    scores, members = synthetic(num_models, num_records)
    targets = np.random.default_rng(1).choice(num_models, NUM_TARGETS, replace=False)
    np.testing.assert_allclose(
        lira(scores, members)[targets],
        reference(scores, members, targets),
        rtol=1e-5,
        atol=1e-6,
    )
    name = reference.__name__
    timings = alternate(
        [
            Variant(
                name, lambda: reference(scores, members, targets), share=NUM_TARGETS / num_models
            ),
            Variant("lira", lambda: lira(scores, members)),
        ],
        rounds=ROUNDS,
    )
    title = (
        f"all targets of {num_models} models × {num_records} records; {name} timed on "
        f"{NUM_TARGETS} random targets and scaled"
    )
    return print_table(title, timings, {"lira": limit})


def working_memory_mb(num_models: int, num_records: int) -> float:
    """Peak allocation of lira beside its input and its output."""
    scores, members = synthetic(num_models, num_records)
    tracemalloc.start()
    result = lira(scores, members)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - result.nbytes) / 2**20


def main() -> int:
    """Exit status 0 when every limit is reached."""
    reached = compare(1024, 5000, per_target, limit=1500)
    reached &= compare(256, 5000, per_record, limit=1000)
    for shape in ((1024, 5000), (2048, 20000)):
        memory = working_memory_mb(*shape)
        reached &= memory < MEMORY_LIMIT_MB
        print(
            f"working memory of lira at {shape[0]} × {shape[1]}: {memory:.0f} MB "
            f"(limit {MEMORY_LIMIT_MB} MB)"
        )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
