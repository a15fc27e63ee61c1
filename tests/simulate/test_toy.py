import numpy as np
import pytest
from scipy import stats

from mia_audit.simulate import toy
from mia_audit.simulate.settings import Toy
from mia_audit.simulate.toy_figure import draw_methods

SMALL = Toy(repeats=5, num_models=48, num_records=60, dimension=2500)


@pytest.mark.parametrize(("dimension", "tpr"), [(100, 0.0144), (1000, 0.0301), (2500, 0.0527)])
def test_the_formula_gives_the_published_values(dimension: int, tpr: float) -> None:
    assert toy.formula_tpr(dimension) == pytest.approx(tpr, abs=5e-5)


def test_the_exact_t_rules_power_grows_to_the_formula() -> None:
    powers = [toy.exact_t_tpr(models, 2500) for models in (16, 64, 256, 4096)]
    assert powers == sorted(powers)
    assert powers[-1] == pytest.approx(toy.formula_tpr(2500), rel=0.01)


def test_the_exact_t_rules_power_is_that_of_plain_draws() -> None:
    """A target and its out shadows drawn one by one, M = 12."""
    rng = np.random.default_rng(0)
    repeats = 200_000
    strength = rng.chisquare(2500, repeats) / (2 * 4999)
    n = rng.binomial(11, 0.5, repeats)
    shadows = rng.standard_normal((repeats, 11))
    shadows[np.arange(11) >= n[:, None]] = np.nan
    keep = (n >= 2) & (n <= 9)
    shadows, n, strength = shadows[keep], n[keep], strength[keep]
    target = rng.standard_normal(n.size) + np.sqrt(2 * strength)
    z = (target - np.nanmean(shadows, axis=1)) / np.nanstd(shadows, axis=1, ddof=1)
    rate = (z > stats.t.isf(0.01, n - 1) * np.sqrt(1 + 1 / n)).mean()
    assert toy.exact_t_tpr(12, 2500) == pytest.approx(rate, abs=4 * np.sqrt(rate / n.size))


def test_every_rule_is_judged_at_every_number_of_models() -> None:
    found = toy.simulate_methods(SMALL, seed=1)
    assert sorted(found.exact_t) == [16, 32, 48]
    methods = {rate.method for rate in found.rates}
    assert {"naive", "post_empirical", "post_conditional", "post_normal", "per_record"} <= methods
    at = {(rate.method, rate.num_models): rate for rate in found.rates}
    assert at["post_normal", 16].fpr > at["post_normal", 48].fpr > 0.01
    assert np.isnan(at["per_record", 16].tpr)
    assert all(check.verdict.passed for check in toy._exact_t_checks(found))
    assert draw_methods(found).startswith(b"\x89PNG")


def test_rates_at_the_true_cutoff_agree_and_a_wrong_rate_differs() -> None:
    tpr, fpr = toy._rates_at_true_cutoff(1000, seed=5)
    assert tpr == pytest.approx(0.0301, abs=0.0016)
    assert fpr == pytest.approx(0.01, abs=0.0009)
    rates = 0.02 + 0.0001 * np.array([-1, 0, 1, 0, 1])
    wrong = [toy.FormulaFound(1000, rates, rates)]
    assert [c.verdict.value for c in toy._formula_checks(wrong)] == ["differs", "differs"]
