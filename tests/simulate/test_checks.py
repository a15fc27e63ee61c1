import numpy as np
import pytest
from scipy import stats

from mia_audit.simulate.checks import CHANCE, Check, check_mean, half_width, repeat_seeds


@pytest.mark.parametrize(
    ("observed", "is_bound", "verdict"),
    [
        (0.109, False, "agrees"),
        (0.111, False, "differs"),
        (0.089, False, "differs"),
        (0.109, True, "kept"),
        (0.111, True, "broken"),
        (0.001, True, "kept"),
    ],
)
def test_a_verdict_follows_from_the_tolerance(
    observed: float, is_bound: bool, verdict: str
) -> None:
    check = Check("rate", 0.1, observed, 0.01, is_bound)
    assert check.verdict.value == verdict
    assert check.verdict.passed == (verdict in ("agrees", "kept"))


def test_the_half_width_is_a_t_interval() -> None:
    values = np.array([1.0, 2.0, 4.0, 7.0, 1.5])
    interval = stats.ttest_1samp(values, 0).confidence_interval(1 - CHANCE)
    assert values.mean() + half_width(values) == pytest.approx(interval.high, rel=1e-9)


def test_true_means_pass_and_false_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(3, 1, (2000, 8))
    assert all(check_mean("mean", 3.0, values).verdict.passed for values in draws[:200])
    assert not check_mean("mean", 3.2, draws.ravel()).verdict.passed
    assert check_mean("mean", 3.2, draws.ravel(), rounding=0.2).verdict.passed


def test_seeds_differ_between_repeats_streams_and_runs() -> None:
    drawn = [repeat_seeds(seed, 50, stream=stream) for seed in (0, 1) for stream in (1, 2)]
    assert len({value for seeds in drawn for value in seeds}) == 200
    assert repeat_seeds(0, 50, stream=1)[:20] == repeat_seeds(0, 20, stream=1)
