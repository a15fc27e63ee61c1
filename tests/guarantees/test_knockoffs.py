"""Knockoffs keep the level with perfect copies and lose it with imperfect ones; PTDI keeps it.

A record's score is its own difficulty (sd 1) plus noise (sd ½), and 1 more for a member.  Copies
share the difficulty.  Imperfect ones, as a text generator writes them, score a tenth lower.
"""

import numpy as np
import pytest

from mia_audit.stats import select_members
from mia_audit.stats.knockoffs import knockoff_statistics, select_with_knockoffs

NUM_RECORDS, NUM_COPIES, NUM_MEMBERS = 1000, 5, 500
ALPHA, NOISE, GAIN = 0.1, 0.5, 1.0
REPEATS = 300

pytestmark = pytest.mark.slow


def statistics(
    rng: np.random.Generator, is_member: np.ndarray, copies_lower_by: float
) -> np.ndarray:
    """Each record's score minus the mean of its copies'."""
    difficulty = rng.normal(size=is_member.size)
    scores = difficulty + GAIN * is_member + NOISE * rng.normal(size=is_member.size)
    noise = NOISE * rng.normal(size=(is_member.size, NUM_COPIES))
    return knockoff_statistics(scores, difficulty[:, None] + noise - copies_lower_by)


def proportions(copies_lower_by: float, *, conformal: bool) -> tuple[np.ndarray, np.ndarray]:
    """False discovery proportion and power of each repetition.

    The same statistic either goes through the knockoff filter, or is compared with that of as many
    real non-members, scored beside imperfect copies of their own.
    """
    wrong, found = np.empty(REPEATS), np.empty(REPEATS)
    is_member = np.arange(NUM_RECORDS) < NUM_MEMBERS
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        w = statistics(rng, is_member, copies_lower_by)
        if conformal:
            known = statistics(rng, np.zeros(NUM_RECORDS, bool), copies_lower_by)
            chosen = select_members(known, w, ALPHA).indices
        else:
            chosen = select_with_knockoffs(w, ALPHA).indices
        wrong[repeat] = np.sum(~is_member[chosen]) / max(1, chosen.size)
        found[repeat] = np.sum(is_member[chosen]) / NUM_MEMBERS
    return wrong, found


def report(name: str, wrong: np.ndarray, found: np.ndarray) -> float:
    """Print and return the standard error of the false discovery rate."""
    error = float(wrong.std(ddof=1) / np.sqrt(REPEATS))
    print(f"{name}: FDR {wrong.mean():.3f} ± {error:.3f} at {ALPHA}, power {found.mean():.2f}")
    return error


def test_perfect_copies_keep_the_level() -> None:
    wrong, found = proportions(0.0, conformal=False)
    assert wrong.mean() <= ALPHA + 3 * report("perfect copies", wrong, found)
    assert found.mean() > 0.5


def test_copies_that_score_lower_lose_it_while_conformal_p_values_keep_it() -> None:
    wrong, found = proportions(0.1, conformal=False)
    assert wrong.mean() > ALPHA + 10 * report("copies a tenth lower", wrong, found)
    wrong, found = proportions(0.1, conformal=True)
    assert wrong.mean() <= ALPHA + 3 * report("PTDI, the same statistic", wrong, found)
    assert found.mean() > 0.5
