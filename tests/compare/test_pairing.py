"""Paired and unpaired limits against slow formulas, and what each is for."""

import math

import numpy as np
import pytest
from scipy import stats

from mia_audit.compare.pairing import judge, mean_difference, mean_with_limits, paired, unpaired
from mia_audit.stats.differences import tpr_differences
from tests.compare.sweeps import matrices


def slow_variance(psi: np.ndarray) -> float:
    num_models, num_records = psi.shape
    rows = sum(psi[m].sum() ** 2 for m in range(num_models)) * num_models / (num_models - 1)
    columns = (
        sum(psi[:, x].sum() ** 2 for x in range(num_records)) * num_records / (num_records - 1)
    )
    return float(max(rows + columns - (psi**2).sum(), (psi**2).sum()))


def test_unpaired_limits_add_the_variances() -> None:
    one, other = (judge(matrix, (0.1,))[0.1] for matrix in matrices((1.5, 0.5)))
    found = unpaired(0.1, one, other)
    everything = slice(0, 300)
    variance = sum(slow_variance(j.tpr_influence(everything)) for j in (one, other))
    width = stats.t.isf(0.025, 31) * math.sqrt(variance)
    assert found.difference == pytest.approx(one.tpr - other.tpr)
    assert found.upper - found.difference == pytest.approx(width, rel=1e-9)
    assert found.difference - found.lower == pytest.approx(width, rel=1e-9)


def test_paired_limits_are_those_of_the_statistics() -> None:
    one, other = matrices((1.5, 0.5))
    alphas = (0.1, 0.01)
    expected = tpr_differences(one.scores, other.scores, one.members, alphas=alphas)
    first, second = judge(one, alphas), judge(other, alphas)
    for alpha, found in zip(alphas, expected, strict=True):
        assert paired(alpha, first[alpha], second[alpha]) == found


def test_paired_is_narrower_on_the_same_data() -> None:
    one, other = (judge(matrix, (0.1, 0.01)) for matrix in matrices((1.5, 1.4)))
    for alpha in (0.1, 0.01):
        close, loose = (f(alpha, one[alpha], other[alpha]) for f in (paired, unpaired))
        assert close.difference == loose.difference
        assert close.upper - close.lower < 0.9 * (loose.upper - loose.lower)


def test_a_sweep_does_not_differ_from_itself() -> None:
    judged = judge(matrices((1.0,))[0], (0.1,))[0.1]
    found = paired(0.1, judged, judged)
    assert (found.difference, found.lower, found.upper) == (0, 0, 0)


def test_no_limits_with_too_few_out_scores() -> None:
    one, other = (judge(matrix, (1e-4,))[1e-4] for matrix in matrices((1.5, 0.5)))
    found = unpaired(1e-4, one, other)
    assert math.isnan(found.lower)
    assert "too few" in found.note


def test_mean_limits_are_students() -> None:
    values = np.array([0.8, 0.9, 0.7, 0.85])
    mean, *limits = mean_with_limits(values)
    expected = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert mean == pytest.approx(values.mean())
    assert limits == pytest.approx(expected)
    assert mean_difference(values, values - 0.1) == pytest.approx((0.1, 0.1, 0.1))
    assert all(math.isnan(v) for v in mean_with_limits(np.array([1.0, np.nan])))
