"""Bagging: several models see a random part of the training set each, and are averaged."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.defences.context_subsampling import ContextSubsampling
from mia_audit.defences.kinds import Unproven
from mia_audit.defences.streams import check_share, further_seed
from mia_audit.models.outputs import Logits, Outputs, log_probabilities


@dataclass
class Bagging(Unproven):
    """The mean prediction of models on random parts of the training set (Breiman 1996; as a
    defence arXiv 2305.01639), for every model: contexts or whole trainings.

    bags: how many models; share: probability of a record to be in a bag, drawn for each anew
    (Breiman's bootstrap has about 0.63). 1 bag of share 1 is plain training.
    """

    bags: int = 5
    share: float = 0.5
    name: ClassVar[str] = "bagging"

    def check(self) -> None:
        """ValueError unless bags ≥ 1 and 0 < share ≤ 1."""
        if self.bags < 1:
            raise ValueError(f"defence.bags is {self.bags}: it must be at least 1.")
        check_share("share", self.share)

    def train(
        self,
        model: Any,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Outputs:
        """The average over bags of `model.train` on a part of each row of `members`."""
        bag = ContextSubsampling(self.share)
        outputs = [
            bag.train(model, dataset, members, own, num_train=num_train, device=device, slots=slots)
            for own in self.bag_seeds(seeds)
        ]
        return average(outputs)

    def bag_seeds(self, seeds: np.ndarray) -> list[np.ndarray]:
        """Seeds of every bag, [bags] of int64 [m]; the first has the models' own."""
        further = [
            np.array([further_seed(int(seed), bag) for seed in seeds])
            for bag in range(1, self.bags)
        ]
        return [seeds, *further]


def average(outputs: list[Outputs]) -> Outputs:
    """The mean of the predicted probabilities, on the log scale; one alone stays as it is."""
    if len(outputs) == 1:
        return outputs[0]
    total = log_probabilities(outputs[0]).astype(np.float64)
    for more in outputs[1:]:
        total = np.logaddexp(total, log_probabilities(more))
    return Logits((total - np.log(len(outputs))).astype(np.float32))
