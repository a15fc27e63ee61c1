"""An existing model judged against shadows: equal to a plain loop, calibrated under no effect."""

import math

import numpy as np
import pytest
from scipy import stats

from mia_audit.attacks import LiRA
from mia_audit.audit import AuditSettings
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats import draw_members
from mia_audit.target import ExistingTarget, judge_target


def matrix_of(scores: np.ndarray, members: np.ndarray) -> ScoreMatrix:
    unknown = np.full(len(scores), np.nan, dtype=np.float32)
    records = np.arange(scores.shape[1])
    return ScoreMatrix(scores.astype(np.float32), members, records, unknown, unknown)


def simulate(shift: float, seed: int, shape: tuple[int, int] = (41, 600)):  # type: ignore[no-untyped-def]
    """Shadows as a matrix, and one more model of the same kind as the target."""
    rng = np.random.default_rng(seed)
    members = draw_members(*shape, seed=seed)
    location, scale = rng.normal(0, 5, shape[1]), rng.gamma(3, 1, shape[1])
    scores = location + scale * (rng.standard_normal(shape) + shift * members)
    return matrix_of(scores[1:], members[1:]), ExistingTarget(scores[0], members[0])


def test_equals_a_plain_loop() -> None:
    matrix, target = simulate(1.0, seed=4, shape=(13, 60))
    settings = AuditSettings(attack=LiRA(), alphas=(0.2, 0.05))
    pooled = []
    for m in range(12):
        for x in range(60):
            if not matrix.members[m, x]:
                others = [
                    matrix.scores[k, x] for k in range(12) if k != m and not matrix.members[k, x]
                ]
                others = np.array(others, dtype=np.float64)
                pooled.append((matrix.scores[m, x] - others.mean()) / others.std(ddof=1))
    pooled.sort()
    z = np.empty(60)
    for x in range(60):
        out = matrix.scores[~matrix.members[:, x], x].astype(np.float64)
        z[x] = (target.scores[x] - out.mean()) / out.std(ddof=1)
    for point in judge_target(target, matrix, settings).points:
        cut = pooled[math.ceil((1 - point.alpha) * (len(pooled) + 1)) - 1]
        hits = (z > cut)[target.members]
        assert point.tpr == pytest.approx(hits.mean())
        assert point.fpr == pytest.approx((z > cut)[~target.members].mean())
        exact = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(method="exact")
        assert (point.lower, point.upper) == pytest.approx((exact.low, exact.high))


def test_a_planted_shift_is_found_and_its_absence_is_not() -> None:
    settings = AuditSettings(attack=LiRA(), alphas=(0.1,))
    leaking, honest = (judge_target(*reversed(simulate(s, seed=7)), settings) for s in (2.0, 0.0))
    assert leaking.points[0].lower > 0.3
    assert honest.points[0].lower <= 0.1 <= honest.points[0].upper
    assert leaking.selection.selected_records.size > honest.selection.selected_records.size


def test_rate_of_false_accusations_is_the_level() -> None:
    """Mean achieved FPR over independent repeats, within the error of those repeats."""
    settings = AuditSettings(attack=LiRA(), alphas=(0.1,))
    rates = []
    for seed in range(60):
        matrix, target = simulate(0.5, seed=100 + seed, shape=(33, 200))
        rates.append(judge_target(target, matrix, settings).points[0].fpr)
    assert abs(np.mean(rates) - 0.1) <= 3.5 * np.std(rates, ddof=1) / math.sqrt(len(rates))


def test_records_without_two_outside_shadows_are_left_out() -> None:
    matrix, target = simulate(0.0, seed=3, shape=(9, 50))
    members = matrix.members.copy()
    members[:, 0] = True
    result = judge_target(
        target, matrix_of(matrix.scores, members), AuditSettings(attack=LiRA(), alphas=(0.1,))
    )
    assert math.isfinite(result.points[0].tpr)
