import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mia_audit.simulate import finite_population as simulation
from mia_audit.simulate.finite_population import PlugInFound, RatioFound, checks, true_tpr
from mia_audit.simulate.settings import FinitePopulation

SMALL = FinitePopulation(repeats=5, num_models=64, num_pool=120, num_train=60, dimension=30)


@pytest.fixture(scope="module")
def found() -> RatioFound:
    return simulation.simulate_ratios(SMALL, seed=3)


def test_the_pools_shortfall_is_seen_and_undone(found: RatioFound) -> None:
    means = found.means.mean(axis=0)
    np.testing.assert_allclose(means, [np.sqrt(0.5), np.sqrt(0.5), 1, 1], rtol=0.05)
    assert all(check.verdict.passed for check in simulation._ratio_checks(found))


def test_corrected_ratios_are_the_measured_ones_over_the_root_of_the_factor(
    found: RatioFound,
) -> None:
    before, after = found.per_record
    # Leave-one-out variances average to the plain one, up to 1/n.
    np.testing.assert_allclose(after, before / np.sqrt(1 - 60 / 119), rtol=0.02)


def test_a_missing_correction_is_reported() -> None:
    uncorrected = np.column_stack([np.random.default_rng(0).normal(0.707, 0.001, (8, 4))])
    wrong = RatioFound(FinitePopulation(), uncorrected, (np.ones(2), np.ones(2)))
    verdicts = [check.verdict.value for check in simulation._ratio_checks(wrong)]
    assert verdicts == ["agrees", "agrees", "differs", "differs"]


def test_the_true_tpr_is_an_integral_over_records() -> None:
    def density(squared: float) -> float:
        shift = squared / 250 + ndtri(0.01) * np.sqrt(squared / 250)
        return ndtr(shift / (np.sqrt(squared * 249) / 250)) * chi2.pdf(squared, 100)

    assert true_tpr(250, 100, 0.01) == pytest.approx(quad(density, 20, 250)[0], rel=1e-4)


def test_the_plug_ins_expectations_are_the_known_answers() -> None:
    around = 0.0001 * np.array([-1, 1, -1, 1, 0])
    found = PlugInFound(0.0448 + around, 0.0789 + around, 0.0465 + around)
    ratios = RatioFound(FinitePopulation(), np.ones((5, 4)) + around[:, None], (around, around))
    verdicts = [check.verdict.value for check in checks(ratios, found)][-3:]
    assert verdicts == ["agrees"] * 3
    swapped = PlugInFound(found.truth, found.corrected, found.uncorrected)
    verdicts = [check.verdict.value for check in checks(ratios, swapped)][-3:]
    assert verdicts == ["agrees", "differs", "differs"]


def test_the_histogram_is_a_picture(found: RatioFound) -> None:
    assert simulation.draw_ratios(found).startswith(b"\x89PNG")
