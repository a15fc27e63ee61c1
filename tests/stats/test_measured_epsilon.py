import math

import numpy as np
import pytest

from mia_audit.stats.measured_epsilon import measured_epsilon
from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound


def design(models: int, records: int, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.random((models, records)) < 0.5


def slow_decisions(scores: np.ndarray, members: np.ndarray, alpha: float) -> np.ndarray:
    half = len(scores) // 2
    shadow, inside = scores[:half].astype(float), members[:half]
    out_z = []
    for x in range(shadow.shape[1]):
        for m in np.flatnonzero(~inside[:, x]):
            others = np.array([shadow[k, x] for k in range(half) if k != m and not inside[k, x]])
            if others.size >= 2:
                sd = math.sqrt(max(others.var(ddof=1), 1e-12))
                out_z.append((shadow[m, x] - others.mean()) / sd)
    ascending = [*sorted(out_z), math.inf]
    cut = ascending[math.ceil((1 - alpha) * (len(out_z) + 1) - 1e-9) - 1]
    decisions = np.zeros_like(members[half:])
    for x in range(shadow.shape[1]):
        out = shadow[~inside[:, x], x]
        if out.size >= 2:
            sd = math.sqrt(max(out.var(ddof=1), 1e-12))
            decisions[:, x] = (scores[half:, x].astype(float) - out.mean()) / sd > cut
    return decisions


@pytest.mark.parametrize("models", [8, 13, 40])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_equals_the_slow_loop(models: int, alpha: float) -> None:
    rng, members = design(models, 30, models)
    scores = (rng.normal(size=members.shape) + 2 * members + 100).astype(np.float32)
    scores[:, 0] = 3.0  # a constant record
    half = models // 2
    expected = pooled_epsilon_lower_bound(slow_decisions(scores, members, alpha), members[half:])
    assert measured_epsilon(scores, members, alpha=alpha) == pytest.approx(expected, abs=1e-12)


def test_a_strong_leak_is_measured_and_delta_costs() -> None:
    rng, members = design(64, 500, 0)
    scores = rng.normal(size=members.shape) + 3 * members
    pure = measured_epsilon(scores, members)
    assert 1.8 < pure < math.log(10)  # TPR/FPR is at most 1/α
    assert 0 < measured_epsilon(scores, members, delta=1e-4) < pure
    assert math.isnan(measured_epsilon(scores, members, delta=1e-4, fraction=0.4))


def test_the_targets_do_not_move_the_cut_off() -> None:
    """Lowering every target score silences the guesses; a refitted cut-off would follow them."""
    rng, members = design(32, 200, 1)
    scores = rng.normal(size=members.shape) + 1.5 * members
    shifted = scores.copy()
    shifted[16:] -= 100
    assert measured_epsilon(scores, members) > 0
    assert measured_epsilon(shifted, members) == 0


def test_mistakes_are_named() -> None:
    rng, members = design(10, 20, 2)
    scores = rng.normal(size=members.shape)
    with pytest.raises(ValueError, match="8 models"):
        measured_epsilon(scores[:6], members[:6])
    with pytest.raises(ValueError, match="alpha"):
        measured_epsilon(scores, members, alpha=0)
    with pytest.raises(ValueError, match="finite"):
        measured_epsilon(np.full_like(scores, np.nan), members)
