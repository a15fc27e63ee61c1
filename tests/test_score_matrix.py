"""The line between training and statistics refuses what statistics cannot read."""

from typing import Any

import numpy as np
import pytest

from mia_audit.score_matrix import ScoreMatrix


def matrix(**changes: Any) -> ScoreMatrix:
    fields: dict[str, Any] = {
        "scores": np.zeros((3, 5), np.float32),
        "members": np.zeros((3, 5), bool),
        "record_ids": np.arange(5),
        "train_accuracy": np.zeros(3, np.float32),
        "test_accuracy": np.zeros(3, np.float32),
    }
    return ScoreMatrix(**(fields | changes))


def test_rows_know_their_index_in_the_plan() -> None:
    assert matrix().model_indices.tolist() == [0, 1, 2]
    assert matrix(missing=(0, 3)).model_indices.tolist() == [1, 2, 4]
    assert (matrix().num_models, matrix().num_records) == (3, 5)


def test_scores_from_elsewhere_have_unknown_accuracies() -> None:
    scores = np.arange(6.0).reshape(2, 3)
    external = ScoreMatrix.external(scores, scores > 2)
    assert external.record_ids.tolist() == [0, 1, 2]
    assert np.isnan(external.train_accuracy).all()
    assert np.isnan(external.test_accuracy).all()
    assert external.missing == external.devices == ()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"scores": np.zeros((3, 4))}, r"scores have shape \(3, 4\) and members \(3, 5\)"),
        ({"scores": np.zeros(15), "members": np.zeros(15, bool)}, r"\[models, records\]"),
        ({"members": np.zeros((3, 5), np.int8)}, "must be boolean"),
        ({"scores": np.full((3, 5), np.inf)}, "15 of the scores are not finite, the first for"),
        ({"record_ids": np.arange(4)}, r"record_ids has shape \(4,\)"),
        ({"test_accuracy": np.zeros(5)}, r"test_accuracy has shape \(5,\): one value for each"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        matrix(**changes)


def test_the_place_of_the_first_bad_score_is_named() -> None:
    scores = np.zeros((3, 5))
    scores[1, 4] = np.nan
    with pytest.raises(ValueError, match=r"1 of the scores .* model 1 and record 4"):
        matrix(scores=scores)
