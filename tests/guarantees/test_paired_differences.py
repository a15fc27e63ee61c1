"""Promise: limits of a difference between defences cover it, and pairing makes them narrower.

Two sweeps on one design whose scores share most of their noise, as sweeps from the same seeds do.
The truth is the mean over repetitions of whole new records and models.
"""

import math

import numpy as np
import pytest

from mia_audit.compare.pairing import judge, paired, unpaired
from mia_audit.score_matrix import ScoreMatrix

pytestmark = pytest.mark.slow

PROMISE, REPETITIONS = 0.92, 200


def sweeps(
    rng: np.random.Generator, num_models: int, num_records: int, shared: float, shifts: tuple
) -> list[ScoreMatrix]:
    members = rng.random((num_models, num_records)) < 0.5
    effect = rng.exponential(1, num_records)
    common = math.sqrt(shared) * rng.standard_normal(members.shape)
    return [
        ScoreMatrix.external(
            (
                common
                + math.sqrt(1 - shared) * rng.standard_normal(members.shape)
                + shift * effect * members
            ).astype(np.float32),
            members,
        )
        for shift in shifts
    ]


@pytest.mark.parametrize("shared", [0.5, 0.9])
@pytest.mark.parametrize(("alpha", "sizes"), [(0.1, (32, 200)), (0.01, (64, 300))])
@pytest.mark.parametrize("shifts", [(1.5, 1.5), (1.5, 1.0)])
def test_paired_limits_cover_and_are_narrower(
    shared: float, alpha: float, sizes: tuple[int, int], shifts: tuple[float, float], capsys
) -> None:
    close, loose = [], []
    for seed in range(REPETITIONS):
        pair = sweeps(np.random.default_rng(seed), *sizes, shared, shifts)
        one, other = (judge(matrix, (alpha,))[alpha] for matrix in pair)
        for found, limits in ((close, paired), (loose, unpaired)):
            row = limits(alpha, one, other)
            found.append((row.difference, row.lower, row.upper))
    narrow, wide = np.array(close), np.array(loose)
    truth = 0.0 if shifts[0] == shifts[1] else narrow[:, 0].mean()
    shares = [np.mean((t[:, 1] <= truth) & (truth <= t[:, 2])) for t in (narrow, wide)]
    ratio = np.mean(narrow[:, 2] - narrow[:, 1]) / np.mean(wide[:, 2] - wide[:, 1])
    with capsys.disabled():
        print(f"α {alpha:g} shared {shared:g} shifts {shifts}: paired covers {shares[0]:.3f}, "
              f"unpaired {shares[1]:.3f}, width ratio {ratio:.2f}")  # fmt: skip
    assert shares[0] >= PROMISE - 3 * math.sqrt(PROMISE * (1 - PROMISE) / REPETITIONS)
    assert ratio < 0.9
