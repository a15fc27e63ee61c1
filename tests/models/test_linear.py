"""Logistic: scikit-learn's optimum, the same bits in any company, refusals."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mia_audit.models.linear import Logistic
from tests.models.tables import gaussian_table, make_table


@pytest.mark.parametrize(("num_classes", "C"), [(2, 1.0), (2, 0.01), (4, 1.0), (3, 30.0)])
def test_equals_scikit_learns_optimum(num_classes: int, C: float) -> None:
    data = gaussian_table(300, 6, num_classes, noise=2.0)
    members = np.random.default_rng(0).random((3, 300)) < 0.5
    coefficients, _ = Logistic(C=C).fit(data, members, np.array([0, 1, 5]), num_train=150)
    outputs = Logistic(C=C).train(data, members, np.arange(3), num_train=150)
    for model, slot in enumerate([0, 1, 5]):
        X, y = data.X[members[model]].astype(float), data.y[members[model]]
        fitted = LogisticRegression(C=C, tol=1e-9, max_iter=5000).fit(X, y)
        ours = coefficients[:, :, slot].numpy()
        np.testing.assert_allclose(ours[:, :-1], fitted.coef_, atol=1e-4)
        intercept = ours[:, -1] - (ours[:, -1].mean() if num_classes > 2 else 0)
        np.testing.assert_allclose(intercept, fitted.intercept_, atol=1e-4)
        chances = fitted.predict_proba(data.X.astype(float))
        own = chances[np.arange(300), data.y]
        expected = np.log(own / (1 - own))
        np.testing.assert_allclose(outputs.confidence(data.y)[model], expected, atol=2e-3)


def test_a_model_has_the_same_bits_whatever_is_solved_beside_it() -> None:
    data = gaussian_table(200, 5, 3)
    members = np.random.default_rng(0).random((64, 200)) < 0.5
    model, seeds = Logistic(), np.arange(64)
    full = model.train(data, members, seeds, num_train=100).values
    assert full.shape == (64, 200, 3)
    some = [3, 63]
    part = model.train(data, members[some], seeds[some], num_train=100, slots=np.array(some))
    np.testing.assert_array_equal(part.values, full[some])


@pytest.mark.parametrize("num_classes", [2, 3])
def test_a_class_missing_from_a_training_set_is_thought_unlikely(num_classes: int) -> None:
    data = gaussian_table(200, 5, num_classes)
    members = (data.y != 1)[None]
    outputs = Logistic().train(data, members, np.arange(1), num_train=100)
    assert (outputs.predictions() != 1).all()
    assert np.isfinite(outputs.values).all()


def test_refuses_what_it_cannot_fit() -> None:
    data = gaussian_table(20, 2, 2)
    with pytest.raises(ValueError, match=r"model\.C is 0"):
        Logistic(C=0).supports(data)
    with pytest.raises(ValueError, match="one class"):
        Logistic().supports(make_table(np.zeros((4, 2)), np.zeros(4), 1))
    with pytest.raises(ValueError, match="row 1 of members is empty"):
        Logistic().train(
            data, np.eye(2, 20, dtype=bool) * [[1], [0]] > 0, np.arange(2), num_train=10
        )
