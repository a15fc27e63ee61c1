import math
import zlib

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import entropy

from mia_audit.stats import signals

LOG_PROBS = np.log([0.5, 0.1, 0.9, 0.2, 0.05, 0.8, 0.3, 0.6, 0.7, 0.4])


def distributions(tokens: int, vocabulary: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return log_softmax(3 * rng.normal(size=(tokens, vocabulary)), axis=1)


def test_perplexity_of_a_uniform_model_is_its_vocabulary() -> None:
    assert signals.perplexity(np.full(7, math.log(1 / 50))) == pytest.approx(-50)
    assert signals.perplexity([0.0]) == -1


def test_zlib_ratio_is_log_perplexity_per_compressed_byte() -> None:
    text = "a line, a line, a line, é"
    size = len(zlib.compress(text.encode()))
    log_perplexity = math.log(-signals.perplexity(LOG_PROBS))
    assert signals.zlib_ratio(LOG_PROBS, text) == pytest.approx(-log_perplexity / size)


@pytest.mark.parametrize(("share", "count"), [(0.2, 2), (0.3, 3), (0.29, 2), (0.0, 1), (1.0, 10)])
def test_min_k_averages_the_least_likely_tokens(share: float, count: int) -> None:
    assert signals.min_k(LOG_PROBS, share=share) == pytest.approx(
        np.mean(sorted(LOG_PROBS)[:count])
    )


def test_min_k_plus_plus_standardises_by_the_model_itself() -> None:
    table = distributions(10, 6)
    p = np.exp(table)
    mean = (p * table).sum(axis=1)
    deviation = np.sqrt((p * (table - mean[:, None]) ** 2).sum(axis=1))
    tokens = np.arange(10) % 6
    chosen = table[np.arange(10), tokens]
    z = sorted((chosen[t] - mean[t]) / deviation[t] for t in range(10))
    assert signals.min_k_plus_plus(chosen, mean, deviation) == pytest.approx(np.mean(z[:2]))


def test_modified_entropy_equals_its_definition() -> None:
    table = distributions(5, 4).reshape(5, 1, 4)
    labels = np.array([0, 1, 2, 3, 1]).reshape(5, 1)
    expected = np.empty((5, 1))
    for t in range(5):
        p, y = np.exp(table[t, 0]), labels[t, 0]
        rest = sum(p[v] * math.log(1 - p[v]) for v in range(4) if v != y)
        expected[t, 0] = (1 - p[y]) * math.log(p[y]) + rest
    np.testing.assert_allclose(signals.modified_entropy(table, labels), expected)


def test_modified_entropy_rewards_being_right_and_punishes_being_sure_of_the_wrong() -> None:
    with np.errstate(divide="ignore"):
        sure = np.log([[1.0, 0.0], [1.0, 0.0]])
    right, wrong = signals.modified_entropy(sure, np.array([0, 1]))
    assert right == 0
    assert -np.inf < wrong < -500


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, math.inf])
def test_renyi_k_averages_the_largest_entropies(order: float, share: float) -> None:
    table = distributions(8, 5)
    p = np.exp(table)
    if order == 1:
        values = entropy(p, axis=1)
    elif math.isinf(order):
        values = -np.log(p.max(axis=1))
    else:
        values = np.log((p**order).sum(axis=1)) / (1 - order)
    count = {0.0: 1, 0.25: 2, 1.0: 8}[share]
    expected = -np.mean(sorted(values)[-count:])
    assert signals.renyi_k(table, order=order, share=share) == pytest.approx(expected)


def test_renyi_entropy_of_a_uniform_model_is_log_vocabulary_at_every_order() -> None:
    uniform = np.full((3, 9), math.log(1 / 9))
    for order in (0.5, 1.0, 2.0, math.inf):
        assert signals.renyi_k(uniform, order=order) == pytest.approx(-math.log(9))


def test_renyi_entropy_takes_impossible_tokens() -> None:
    with np.errstate(divide="ignore"):
        table = np.log([[0.5, 0.5, 0.0]])
    for order in (0.5, 1.0, 2.0, math.inf):
        assert signals.renyi_k(table, order=order) == pytest.approx(-math.log(2))


def test_every_score_is_higher_for_members() -> None:
    """A member: the model puts more mass on its tokens than on those of other texts."""
    rng = np.random.default_rng(0)
    scores: dict[str, list] = {}
    for gain in [0.0, 2.0] * 100:
        logits = rng.normal(size=(40, 20))
        tokens = rng.integers(20, size=40)
        logits[np.arange(40), tokens] += gain
        table = log_softmax(logits, axis=1)
        p, chosen = np.exp(table), table[np.arange(40), tokens]
        mean = (p * table).sum(axis=1)
        deviation = np.sqrt((p * (table - mean[:, None]) ** 2).sum(axis=1))
        row = {
            "perplexity": signals.perplexity(chosen),
            "zlib": signals.zlib_ratio(chosen, "a text of fixed length"),
            "min_k": signals.min_k(chosen),
            "min_k_plus_plus": signals.min_k_plus_plus(chosen, mean, deviation),
            "modified_entropy": signals.modified_entropy(table, tokens).mean(),
            "renyi_k": signals.renyi_k(table),
        }
        for name, value in row.items():
            scores.setdefault(name, []).append(value)
    for name, values in scores.items():
        assert np.mean(values[1::2]) > np.mean(values[::2]), name


def test_mistakes_are_named() -> None:
    for bad in ([], [0.1], [np.nan], [[-1.0]]):
        with pytest.raises(ValueError, match="token_log_probs"):
            signals.perplexity(bad)
    with pytest.raises(ValueError, match="share"):
        signals.min_k(LOG_PROBS, share=20)
    with pytest.raises(ValueError, match="10 tokens"):
        signals.min_k_plus_plus(LOG_PROBS, [0.0], [1.0])
    with pytest.raises(ValueError, match="positive"):
        signals.min_k_plus_plus(LOG_PROBS, np.zeros(10), np.zeros(10))
    with pytest.raises(ValueError, match="log-softmax"):
        signals.renyi_k(np.ones((3, 4)))
    with pytest.raises(ValueError, match="order"):
        signals.renyi_k(distributions(3, 4), order=0)
    with pytest.raises(ValueError, match="tokens, vocabulary"):
        signals.renyi_k(distributions(3, 4)[0])
    with pytest.raises(ValueError, match="labels"):
        signals.modified_entropy(distributions(3, 4), np.zeros(2, int))
    with pytest.raises(ValueError, match="between 0 and 3"):
        signals.modified_entropy(distributions(3, 4), np.array([0, 1, 4]))
