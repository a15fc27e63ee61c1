"""Output noise: the right scale, each model's and record's own, nothing at scale 0."""

import math

import numpy as np
import pytest

from mia_audit.defences.output_noise import OutputNoise
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits, Probabilities
from tests.models.tables import gaussian_table

LOGITS = Logits(np.random.default_rng(0).normal(0, 2, (2, 5000, 2)).astype(np.float32))
LABELS = np.random.default_rng(1).integers(0, 2, 5000)


def noise_on_phi(scale: float, seeds: list[int]) -> np.ndarray:
    released = OutputNoise(scale).release(LOGITS, np.array(seeds))
    return released.confidence(LABELS) - LOGITS.confidence(LABELS)


def test_noise_has_the_given_scale_and_belongs_to_its_model() -> None:
    noise = noise_on_phi(1.5, [3, 4])
    # φ is a difference of two logits.
    assert abs(noise.std() / (1.5 * math.sqrt(2)) - 1) < 4 / math.sqrt(2 * noise.size)
    assert abs(noise.mean()) < 4 * 1.5 * math.sqrt(2 / noise.size)
    assert abs(np.corrcoef(noise)[0, 1]) < 4 / math.sqrt(5000)
    np.testing.assert_array_equal(noise_on_phi(1.5, [3, 9])[0], noise[0])


def test_scale_zero_releases_what_the_model_says() -> None:
    released = OutputNoise(0.0).release(LOGITS, np.arange(2))
    np.testing.assert_array_equal(released.values, LOGITS.values)


def test_probabilities_get_noise_on_their_logarithms() -> None:
    shares = Probabilities(np.full((2, 5000, 2), 0.5))
    released = OutputNoise(1.5).release(shares, np.array([3, 4]))
    np.testing.assert_allclose(
        released.confidence(LABELS), noise_on_phi(1.5, [3, 4]), rtol=0, atol=1e-5
    )


def test_refuses_a_negative_scale() -> None:
    with pytest.raises(ValueError, match=r"defence.scale is -1"):
        OutputNoise(-1.0).supports(MLP(), gaussian_table(20, 2, 2))
