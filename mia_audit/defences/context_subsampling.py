"""Context subsampling: a model gets a random part of its training set to see."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.defences.kinds import Unproven
from mia_audit.defences.streams import check_share, draw_subsets, expected_size
from mia_audit.models.outputs import Outputs


@dataclass
class ContextSubsampling(Unproven):
    """Each record is in the context with a probability (amplification by subsampling, arXiv
    1807.01647), for every model, in-context ones above all.

    The records left out count as members in the audit: the attacker knows that they were given,
    not whether they were drawn.

    share: that probability; 1 is plain training.
    """

    share: float = 0.5
    name: ClassVar[str] = "context_subsampling"

    def check(self) -> None:
        """ValueError unless 0 < share ≤ 1."""
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
        """`model.train` on a drawn part of each row of `members` (bool [m, N])."""
        return model.train(
            dataset,
            draw_subsets(members, seeds, self.share),
            seeds,
            num_train=expected_size(num_train, self.share),
            device=device,
            slots=slots,
        )
