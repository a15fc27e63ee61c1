"""SELENA: a network learns from networks that have not seen the record it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.defences.kinds import TrainingDefence, train_by
from mia_audit.defences.streams import SUBSETS, expected_size, further_seed, numpy_streams
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits, probabilities
from mia_audit.models.recipe import Batch, Recipe, Stack

if TYPE_CHECKING:
    from mia_audit.models.stacked import StackedMLP


@dataclass
class Selena(TrainingDefence):
    """Self-distillation of a split ensemble (arXiv 2110.08324), for model=mlp.

    Of K sub-models each record is kept from L, drawn at random. The released network is trained
    on all records, with the mean prediction of a record's own L sub-models as its label. Costs
    K · (1 − L / K) + 1 trainings.

    sub_models: K; unseen_by: L, below K. The paper's are 25 and 10.
    """

    sub_models: int = 25
    unseen_by: int = 10
    name: ClassVar[str] = "selena"

    def check(self) -> None:
        """ValueError unless 1 ≤ unseen_by < sub_models."""
        if not 1 <= self.unseen_by < self.sub_models:
            raise ValueError(
                f"defence.unseen_by is {self.unseen_by}: it must be at least 1 and below "
                f"defence.sub_models={self.sub_models}."
            )

    def train(
        self,
        model: MLP,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        """Train the sub-models, then m networks on what they say; as MLP.train otherwise."""
        labels = self.soft_labels(
            model, dataset, members, seeds, num_train=num_train, device=device, slots=slots
        )
        return train_by(
            lambda stack: Distilled(stack, labels),
            model,
            dataset,
            members,
            seeds,
            num_train=num_train,
            device=device,
            slots=slots,
        )

    def soft_labels(
        self,
        model: MLP,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> np.ndarray:
        """Mean prediction of each record's own L sub-models, float32 [m, N, C]."""
        unseen = self.draw_unseen(seeds, members.shape[1])
        expected = expected_size(num_train, 1 - self.unseen_by / self.sub_models)
        total = np.zeros((*members.shape, dataset.num_classes), dtype=np.float32)
        for sub in range(self.sub_models):
            outputs = model.train(
                dataset,
                members & ~unseen[:, sub],
                np.array([further_seed(int(seed), SUBSETS, sub) for seed in seeds]),
                num_train=expected,
                device=device,
                slots=slots,
            )
            total += unseen[:, sub, :, None] * probabilities(outputs)
        return total / self.unseen_by

    def draw_unseen(self, seeds: np.ndarray, num_records: int) -> np.ndarray:
        """Which L of the K sub-models never see a record, bool [m, K, N]."""
        shape = self.sub_models, num_records
        draws = np.stack([rng.random(shape) for rng in numpy_streams(seeds, SUBSETS)])
        return draws.argsort(1).argsort(1) < self.unseen_by


class Distilled(Recipe):
    """Cross-entropy to given soft labels, float [m, N, C]."""

    def __init__(self, stack: Stack, labels: np.ndarray) -> None:
        import torch

        _, num_records, num_classes = labels.shape
        own = np.zeros((stack.network.num_models, num_classes, num_records), dtype=labels.dtype)
        own[stack.slots] = labels.transpose(0, 2, 1)
        self._labels = torch.from_numpy(own).to(stack.records)

    def set_signal(self, network: StackedMLP, batch: Batch) -> None:
        """weight · (softmax − soft label)."""
        signal = network.signals[-1].copy_(network.logits.softmax(1))
        index = batch.rows.view(len(signal), 1, -1).expand_as(signal)
        signal.sub_(self._labels.gather(2, index)).mul_(batch.weights)
