"""The line between training and statistics: one score for every model and every record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of M models on N records; higher means more likely a member.

    scores float32 [M, N], members bool [M, N], record_ids int64 [N] (row of each record in its
    source table), train_accuracy and test_accuracy float32 [M] (inside and outside a model's own
    training set; nan where unknown), seconds of training, devices trained on, and the indices
    of planned models that are `missing`: they have no row here. Raises ValueError when the shapes
    disagree or a score is not finite.
    """

    scores: np.ndarray
    members: np.ndarray
    record_ids: np.ndarray
    train_accuracy: np.ndarray
    test_accuracy: np.ndarray
    seconds: float = 0.0
    devices: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check_pair(self.scores, self.members)
        num_models, num_records = self.scores.shape
        lengths = {
            "record_ids": (self.record_ids, num_records),
            "train_accuracy": (self.train_accuracy, num_models),
            "test_accuracy": (self.test_accuracy, num_models),
        }
        for name, (values, length) in lengths.items():
            if values.shape != (length,):
                raise ValueError(
                    f"{name} has shape {values.shape}: one value for each of {length} is needed."
                )

    @classmethod
    def external(cls, scores: np.ndarray, members: np.ndarray) -> ScoreMatrix:
        """Scores [M, N] from elsewhere: records are numbered, accuracies unknown."""
        _check_pair(scores, members)
        unknown = np.full(len(scores), np.nan, dtype=np.float32)
        return cls(scores, members, np.arange(scores.shape[1]), unknown, unknown)

    @property
    def num_models(self) -> int:
        return self.scores.shape[0]

    @property
    def num_records(self) -> int:
        return self.scores.shape[1]

    @property
    def model_indices(self) -> np.ndarray:
        """int64 [M]: index in the plan of each row."""
        planned = np.arange(self.num_models + len(self.missing))
        return np.setdiff1d(planned, np.asarray(self.missing, dtype=np.int64))


def _check_pair(scores: np.ndarray, members: np.ndarray) -> None:
    if scores.ndim != 2 or scores.shape != members.shape:
        raise ValueError(
            f"scores have shape {scores.shape} and members {members.shape}: both must be "
            "[models, records] with the same numbers of each."
        )
    if members.dtype != np.bool_:
        raise ValueError(f"members are {members.dtype}: they must be boolean, true for a member.")
    finite = np.isfinite(scores)
    if not finite.all():
        model, record = np.argwhere(~finite)[0]
        raise ValueError(
            f"{(~finite).sum()} of the scores are not finite, the first for model {model} and "
            f"record {record}: use scores from logits, or clip the probabilities."
        )
