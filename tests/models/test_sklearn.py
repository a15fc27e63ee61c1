"""SklearnModel: what scikit-learn itself gives, missing classes, seeds, refusals."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_info

from mia_audit.models.sklearn import SklearnModel
from tests.models.tables import gaussian_table, make_table

DATA = gaussian_table(150, 4, 3)
MEMBERS = np.random.default_rng(0).random((3, 150)) < 0.5
FOREST = SklearnModel("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 5})


def train(model: SklearnModel, members: np.ndarray = MEMBERS) -> Any:
    return model.train(DATA, members, np.arange(len(members)) + 2**40, num_train=75)


def test_equals_the_estimator_itself() -> None:
    outputs = train(FOREST)
    for model, row in enumerate(MEMBERS):
        forest = RandomForestClassifier(n_estimators=5, random_state=(model + 2**40) % 2**32)
        expected = forest.fit(DATA.X[row], DATA.y[row]).predict_proba(DATA.X)
        np.testing.assert_allclose(outputs.values[model], expected, atol=1e-12)
    assert (outputs.predictions() == DATA.y)[MEMBERS].mean() > 0.9
    assert np.isfinite(outputs.confidence(DATA.y)).all()


def test_boosted_trees_are_the_default() -> None:
    model = SklearnModel(params={"max_iter": 5})
    model.supports(DATA)
    assert isinstance(model.make(seed=3), HistGradientBoostingClassifier)
    assert train(model, MEMBERS[:1]).values.shape == (1, 150, 3)


def test_seeds_make_the_difference_and_nothing_else() -> None:
    first, again = train(FOREST), train(FOREST)
    np.testing.assert_array_equal(first.values, again.values)
    twice = FOREST.train(DATA, MEMBERS[[0, 0]], np.array([1, 2]), num_train=75)
    assert np.abs(twice.values[0] - twice.values[1]).max() > 0
    fixed = SklearnModel(FOREST.estimator, {"n_estimators": 5, "random_state": 3})
    twice = fixed.train(DATA, MEMBERS[[0, 0]], np.array([1, 2]), num_train=75)
    np.testing.assert_array_equal(twice.values[0], twice.values[1])


def test_missing_classes_have_probability_zero() -> None:
    members = np.stack([DATA.y != 1, DATA.y == 2])
    outputs = train(FOREST, members)
    assert (outputs.values[0][:, 1] == 0).all()
    np.testing.assert_allclose(outputs.values.sum(-1), 1)
    assert (outputs.values[1] == [0, 0, 1]).all()


class NoProbabilities:
    """A classifier that only decides, with one parameter."""

    threads: tuple[int, ...] = ()

    def __init__(self, level: float = 0.0) -> None:
        self.level = level

    def fit(self, X: np.ndarray, y: np.ndarray) -> "NoProbabilities":
        NoProbabilities.threads = tuple(pool["num_threads"] for pool in threadpool_info())
        return self


class Coin(NoProbabilities):
    """One that gives probabilities."""

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.full((len(X), 3), 1 / 3)


def test_takes_classes_from_outside_scikit_learn_and_one_thread() -> None:
    model = SklearnModel(f"{__name__}.Coin", {"level": 0.5})
    model.supports(DATA)
    train(model)
    assert Coin.threads
    assert set(Coin.threads) == {1}


@pytest.mark.parametrize(
    ("estimator", "params", "words"),
    [
        (f"{__name__}.NoProbabilities", None, "no predict_proba"),
        ("sklearn.svm.LinearSVC", None, "no predict_proba"),
        ("sklearn.ensemble.RandomForest", None, "no estimator sklearn.ensemble.RandomForest"),
        ("nowhere.Forest", None, "no estimator nowhere.Forest"),
        ("Forest", None, "no estimator Forest"),
        (FOREST.estimator, {"trees": 3}, "no parameter trees"),
        (FOREST.estimator, {"n_estimators": -3}, "n_estimators"),
        (f"{__name__}.Coin", {"sides": 3}, "cannot be made with these params.*sides"),
    ],
)
def test_refuses_before_any_work(estimator: str, params: dict[str, Any] | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SklearnModel(estimator, params).supports(DATA)


def test_refuses_a_single_class_and_an_empty_set() -> None:
    with pytest.raises(ValueError, match="one class"):
        FOREST.supports(make_table(np.zeros((4, 2)), np.zeros(4), 1))
    with pytest.raises(ValueError, match="row 0 of members is empty"):
        train(FOREST, np.zeros((1, 150), dtype=bool))
