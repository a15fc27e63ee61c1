import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from mia_audit.stats import (
    log_confidence,
    logit_confidence,
    logit_confidence_from_probabilities,
)


@pytest.mark.parametrize("num_classes", [2, 3, 7])
@pytest.mark.parametrize("leading", [(), (5,), (2, 3)])
def test_logits_give_the_log_odds_of_the_label(num_classes: int, leading: tuple) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 30, (*leading, 11, num_classes))
    labels = rng.integers(0, num_classes, 11)
    expected = np.empty((*leading, 11))
    for at in np.ndindex(*leading, 11):
        y = labels[at[-1]]
        expected[at] = logits[at][y] - logsumexp(np.delete(logits[at], y))
    np.testing.assert_allclose(logit_confidence(logits, labels), expected, rtol=1e-12)


def test_one_output_is_the_logit_of_class_one() -> None:
    logits = np.random.default_rng(1).normal(0, 5, (4, 9))
    labels = np.arange(9) % 2
    both = np.stack([np.zeros_like(logits), logits], axis=-1)
    expected = logit_confidence(both, labels)
    np.testing.assert_allclose(logit_confidence(logits, labels), expected)
    np.testing.assert_allclose(logit_confidence(logits[..., None], labels), expected)
    np.testing.assert_allclose(logit_confidence(logits[0], labels), expected[0])


def test_confident_float32_logits_neither_saturate_nor_round() -> None:
    """From rounded float32 probabilities both would be infinite."""
    logits = np.array([[40.0, 0.0], [0.0, 90.0]], dtype=np.float32)
    scores = logit_confidence(logits, np.array([0, 0]))
    assert scores.dtype == np.float32
    np.testing.assert_array_equal(scores, [40.0, -90.0])


def test_probabilities_agree_with_logits() -> None:
    logits = np.random.default_rng(2).normal(0, 3, (5, 8, 4))
    labels = np.arange(8) % 4
    ours = logit_confidence_from_probabilities(softmax(logits, axis=-1), labels)
    np.testing.assert_allclose(ours, logit_confidence(logits, labels), rtol=1e-9)


def test_certain_probabilities_are_clipped_symmetrically() -> None:
    labels = np.array([0, 1])
    certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    scores = logit_confidence_from_probabilities(certain, labels)
    np.testing.assert_allclose(scores, np.array([1, -1]) * np.log(1e12), rtol=1e-12)
    one_output = logit_confidence_from_probabilities(np.array([0.0, 0.0]), labels)
    np.testing.assert_allclose(one_output, scores)


def test_log_confidence_inverts_the_logit_scale() -> None:
    logits = np.random.default_rng(3).normal(0, 200, (50, 3))
    labels = np.arange(50) % 3
    expected = log_softmax(logits, axis=-1)[np.arange(50), labels]
    np.testing.assert_allclose(
        log_confidence(logit_confidence(logits, labels)), expected, atol=1e-15
    )


def test_mistakes_are_named() -> None:
    logits = np.zeros((4, 6, 3))
    with pytest.raises(ValueError, match="do not fit labels"):
        logit_confidence(logits, np.zeros(5, dtype=int))
    with pytest.raises(ValueError, match="labels run from 0 to 3"):
        logit_confidence(logits, np.arange(6) % 4)
    with pytest.raises(ValueError, match="whole numbers"):
        logit_confidence(logits, np.linspace(0, 1, 6))
    with pytest.raises(ValueError, match="between 0 and 1"):
        logit_confidence_from_probabilities(logits - 1, np.zeros(6, dtype=int))
