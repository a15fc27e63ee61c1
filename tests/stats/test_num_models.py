import numpy as np
import pytest
from scipy.stats import norm

from mia_audit.stats.num_models import num_models_needed


def half_width(num_models: np.ndarray, alpha: float, tpr: float) -> np.ndarray:
    n_in = n_out = num_models / 2
    u, z = norm.ppf(tpr), norm.isf(alpha)
    w = 1 / n_in + (1 / n_out + z**2 / (2 * (n_out - 1)))
    v = w + u**2 / (2 * (n_in - 1))
    return 0.5 * (norm.cdf(u + 1.96 * np.sqrt(v)) - norm.cdf(u - 1.96 * np.sqrt(v)))


@pytest.mark.parametrize(
    ("alpha", "models"), [(0.1, 100), (0.01, 1000), (0.001, 10_000), (0.3, 34)]
)
def test_without_a_width_ten_expected_false_positives(alpha: float, models: int) -> None:
    assert num_models_needed(alpha) == models
    assert num_models_needed(alpha, tpr=0.2) == models


@pytest.mark.parametrize("alpha", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("tpr", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("width", [0.2, 0.05, 0.02])
def test_is_the_smallest_that_meets_the_width(alpha: float, tpr: float, width: float) -> None:
    models = num_models_needed(alpha, tpr=tpr, half_width=width)
    counts = np.arange(4, 200_000)
    assert models == counts[half_width(counts, alpha, tpr) <= width][0]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": 0.1, "tpr": 1.2}, "tpr"),
        ({"alpha": 0.1, "half_width": 0.1}, "tpr"),
        ({"alpha": 0.1, "tpr": 0.5, "half_width": 0.0}, "half_width"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, float], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        num_models_needed(**arguments)
