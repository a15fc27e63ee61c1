import numpy as np
import pytest

from mia_audit.stats import draw_members
from mia_audit.stats.reference import (
    gaussian_means,
    toy_log_ratios,
    toy_strength,
    toy_tpr,
)


@pytest.mark.parametrize(("dimension", "expected"), [(100, 0.0144), (1000, 0.0301), (2500, 0.0527)])
def test_the_affine_toy_has_its_known_answer(dimension: int, expected: float) -> None:
    tpr = toy_tpr(toy_strength(4000, dimension, seed=0), 0.01)
    assert tpr.mean() == pytest.approx(expected, abs=4 * tpr.std() / np.sqrt(4000) + 5e-5)


def test_toy_ratios_have_the_stated_power() -> None:
    strength = np.full(500, 0.5)
    members = draw_members(400, 500, seed=1)
    ratios = toy_log_ratios(strength, members, seed=1)
    cut = -0.5 + 2.3263478740408408  # −η + z_.01·√(2η)
    hits, errors = (ratios > cut)[members], (ratios > cut)[~members]
    assert errors.mean() == pytest.approx(0.01, abs=4 * np.sqrt(0.01 / errors.size))
    power = toy_tpr(strength, 0.01)[0]
    assert hits.mean() == pytest.approx(power, abs=4 * np.sqrt(power / hits.size))


def test_gaussian_means_average_their_members() -> None:
    """Scores are inner products with the mean, so they sum over members like the Gram matrix."""
    simulated = gaussian_means(9, 31, 15, 4, design="fixed_size", seed=2)
    assert (simulated.members.sum(axis=1) == 15).all()
    # ⟨mean, mean⟩ of a model from its members' scores is a square.
    self_product = (simulated.scores * simulated.members).sum(axis=1) / 15
    assert (self_product > 0).all()
    np.testing.assert_allclose(simulated.effect, simulated.sd_out**2)
    assert (simulated.sd_in < simulated.sd_out).all()
