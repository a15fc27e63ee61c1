"""Temperature: flatter predictions, the same most likely class, and nothing new to LiRA."""

import numpy as np
import pytest

from mia_audit.defences.temperature import Temperature
from mia_audit.models.linear import Logistic
from mia_audit.models.outputs import Logits, Outputs, Probabilities, probabilities
from mia_audit.stats import draw_members, lira
from tests.models.tables import gaussian_table

RNG = np.random.default_rng(0)
LOGITS = Logits(RNG.normal(0, 4, (3, 200, 4)).astype(np.float32))
SHARES = Probabilities(RNG.dirichlet(np.ones(4), (3, 200)))
SEEDS = np.arange(3)


@pytest.mark.parametrize("outputs", [LOGITS, SHARES], ids=["logits", "probabilities"])
def test_divides_log_odds_and_leaves_the_most_likely_class(outputs: Outputs) -> None:
    released = Temperature(3.0).release(outputs, SEEDS)
    np.testing.assert_array_equal(released.predictions(), outputs.predictions())
    before, after = (np.log(probabilities(o)) for o in (outputs, released))
    np.testing.assert_allclose(
        after - after[..., :1], (before - before[..., :1]) / 3, rtol=1e-5, atol=1e-5
    )


def test_value_one_changes_nothing() -> None:
    np.testing.assert_array_equal(Temperature(1.0).release(LOGITS, SEEDS).values, LOGITS.values)
    released = Temperature(1.0).release(SHARES, SEEDS).values
    np.testing.assert_allclose(released, SHARES.values, rtol=1e-10, atol=0)


def test_with_two_classes_lira_is_what_it_was() -> None:
    members = draw_members(24, 60, seed=0)
    outputs = Logits(RNG.normal(0, 3, (24, 60, 2)))
    labels = RNG.integers(0, 2, 60)
    plain, flat = (
        lira(o.confidence(labels).astype(float), members)
        for o in (outputs, Temperature(5.0).release(outputs, np.arange(24)))
    )
    np.testing.assert_allclose(flat, plain, rtol=1e-3, atol=1e-3)


def test_fits_every_model_and_refuses_what_makes_no_sense() -> None:
    data = gaussian_table(20, 2, 2)
    Temperature().supports(Logistic(), data)
    with pytest.raises(ValueError, match=r"defence.value is 0.0: it must be positive"):
        Temperature(0.0).supports(Logistic(), data)
