"""A wrong direction gives itself away; a right one, and pure chance, do not."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from mia_audit.identify.direction import candidates_warning, members_warning, pairs_won


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "no ties"])
def test_pairs_and_z_score_are_mann_whitneys(decimals: int) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.3, size=80).round(decimals), rng.normal(size=50).round(decimals)
    won, z = pairs_won(first, second)
    expected = mannwhitneyu(first, second, use_continuity=False, method="asymptotic")
    pairs = np.sign(first[:, None] - second)
    assert won == pytest.approx(np.mean((pairs + 1) / 2))
    from scipy.stats import norm

    assert 2 * norm.sf(abs(z)) == pytest.approx(expected.pvalue)


def test_equal_scores_say_nothing() -> None:
    assert pairs_won(np.zeros(5), np.zeros(7)) == (0.5, 0.0)


def test_only_the_wrong_direction_is_warned_of() -> None:
    rng = np.random.default_rng(1)
    calibration = rng.normal(size=300)
    candidates = rng.normal(size=400) + 2 * (np.arange(400) < 100)
    assert candidates_warning(candidates, calibration, "") == ""
    told = candidates_warning(-candidates, -calibration, " (set higher_is_member=false)")
    assert "LESS like training data" in told
    assert "set higher_is_member=false" in told
    assert members_warning(candidates[:100], calibration, "") == ""
    assert "confirmed members" in members_warning(-candidates[:100], -calibration, "")


def test_candidates_without_members_are_seldom_warned_of() -> None:
    rng = np.random.default_rng(2)
    told = [
        bool(candidates_warning(rng.normal(size=60), rng.normal(size=40), "")) for _ in range(1000)
    ]
    assert np.mean(told) < 0.006
