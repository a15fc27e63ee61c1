"""Top label: the score tells right from wrong and nothing else."""

import numpy as np
import pytest

from mia_audit.defences.top_label import TopLabel
from mia_audit.models.outputs import Logits, Probabilities, probabilities


@pytest.mark.parametrize("num_classes", [2, 5])
def test_keeps_the_label_and_forgets_the_rest(num_classes: int) -> None:
    rng = np.random.default_rng(0)
    outputs = Logits(rng.normal(0, 3, (3, 400, num_classes)).astype(np.float32))
    labels = rng.integers(0, num_classes, 400)
    released = TopLabel().release(outputs, np.arange(3))
    np.testing.assert_array_equal(released.predictions(), outputs.predictions())
    right, phi = outputs.predictions() == labels, released.confidence(labels)
    np.testing.assert_allclose(phi[right], np.log(99), rtol=1e-6)
    wrong = -np.log(99 * (num_classes - 1) + num_classes - 2)
    np.testing.assert_allclose(phi[~right], wrong, rtol=1e-6)


def test_any_outputs_with_the_same_labels_are_released_alike() -> None:
    logits = Logits(np.random.default_rng(0).normal(0, 3, (2, 50, 3)).astype(np.float32))
    top = np.eye(3)[logits.predictions()]
    shares = Probabilities(0.4 * top + 0.2)
    seeds = np.arange(2)
    np.testing.assert_array_equal(
        TopLabel().release(logits, seeds).values, TopLabel().release(shares, seeds).values
    )
    np.testing.assert_allclose(
        probabilities(TopLabel().release(shares, seeds)).max(-1), 0.99, rtol=1e-6
    )


def test_says_that_the_attacker_sees_labels_alone() -> None:
    assert "label-only" in TopLabel().attacker
