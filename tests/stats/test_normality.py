"""The normality check speaks up for heavy tails and floored variances, and not otherwise."""

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats.normality import check_normality, mean_shape
from mia_audit.stats.panel import build_panel


def panel_of(noise, *, seed=0):
    """Records with their own mean and scale around the given noise [M, N]."""
    rng = np.random.default_rng(seed)
    members = rng.random(noise.shape) < 0.5
    num_records = noise.shape[1]
    scores = rng.normal(0, 3, num_records) + noise * np.exp(rng.normal(0, 0.5, num_records))
    return build_panel(scores + members, members)


def check_of(panel, alphas):
    return check_normality(panel, panel.standardised("positive"), alphas)


def test_normal_scores_raise_no_warning():
    noise = np.random.default_rng(0).standard_normal((64, 500))
    found = check_of(panel_of(noise), (0.1, 0.01, 0.001))
    assert found.warning == ""
    # 500 records: standard errors √(6/32/500) and √(24/32/500)
    assert found.skewness == pytest.approx(0, abs=4 * np.sqrt(6 / 32 / 500))
    assert found.excess_kurtosis == pytest.approx(0, abs=5 * np.sqrt(24 / 32 / 500))
    assert found.tail_ratio == pytest.approx(1, abs=0.25)
    known = np.isfinite(found.observed)
    assert known.sum() >= 8
    np.testing.assert_allclose(found.observed[known], found.expected[known], atol=0.15)


@pytest.mark.parametrize("num_models", [16, 64])
def test_heavy_tails_are_named_with_their_achieved_fpr(num_models):
    noise = stats.t.rvs(3, size=(num_models, 1000), random_state=0)
    found = check_of(panel_of(noise), (0.1, 0.01))
    assert found.tail_ratio > 1.1
    assert found.excess_kurtosis > 0.5
    assert "heavier upper tail" in found.warning
    assert f"{0.01 * found.tail_ratio:.2g}" in found.warning


def test_right_skew_warns_and_left_skew_does_not():
    noise = np.random.default_rng(0).gamma(2.0, size=(64, 500))
    right, left = (check_of(panel_of(sign * noise), (0.01,)) for sign in (1, -1))
    assert right.skewness > 0.5 > -0.5 > left.skewness
    assert right.warning
    assert left.warning == ""
    assert left.tail_ratio < 1


def test_floored_variances_warn():
    noise = np.random.default_rng(0).standard_normal((32, 100))
    noise[:, :5] = 0.0
    panel = panel_of(noise)
    assert panel.floored_share == pytest.approx(0.05)
    warning = check_of(panel, (0.1,)).warning
    assert "5.0% of the entries have no variance" in warning


def test_shape_is_the_mean_of_scipys_corrected_values():
    rng = np.random.default_rng(0)
    scores = rng.gamma(2.0, size=(30, 6))
    scores[:, 5] = 1.0
    outside = rng.random(scores.shape) < 0.5
    columns = [scores[outside[:, x], x] for x in range(5)]
    skewness, kurtosis = mean_shape(scores.astype(np.float32), outside)
    assert skewness == pytest.approx(np.mean([stats.skew(c, bias=False) for c in columns]), 1e-5)
    assert kurtosis == pytest.approx(
        np.mean([stats.kurtosis(c, bias=False) for c in columns]), 1e-4
    )


def test_no_usable_record_has_no_shape():
    assert np.isnan(mean_shape(np.ones((8, 3)), np.ones((8, 3), dtype=bool))).all()
