"""Logistic regression with an L2 penalty, many at a time, solved to the optimum."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.outputs import Logits

if TYPE_CHECKING:
    import torch

    from mia_audit.models.logistic_loss import LogisticLoss

STACKS = {"cpu": 64, "cuda": 512}


@dataclass
class Logistic:
    """scikit-learn's LogisticRegression: ½‖w‖² + C · Σ cross-entropy, intercept not penalised.

    C: inverse strength of the penalty. Two classes have one weight vector, more have one each.
    """

    C: float = 1.0

    @property
    def name(self) -> str:
        """How configuration and reports call this model."""
        return "logistic"

    def stack(self, device: str) -> int:
        """Models solved together on this device."""
        return STACKS[device.partition(":")[0]]

    def supports(self, dataset: Dataset) -> None:
        """ValueError if C is not positive or the data have a single class."""
        if not self.C > 0:
            raise ValueError(f"model.C is {self.C}: it must be positive.")
        if dataset.num_classes < 2:
            raise ValueError(f"{dataset.name} has one class: there is nothing to learn.")

    def train(
        self,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        """Fit m models, one on each row of `members`, and ask each about every record.

        members: bool [m, N], m ≤ stack(device); seeds are not used: the optimum is unique.
        slots: int [m], each model's place in the fixed stack (0 … m−1 if None).
        ValueError: a training set is empty, or the solver does not converge.
        """
        from mia_audit.models.training import one_thread

        slots = np.arange(len(members)) if slots is None else np.asarray(slots)
        if not members.any(axis=1).all():
            model = int(members.any(axis=1).argmin())
            raise ValueError(f"The training set in row {model} of members is empty.")
        with one_thread(device):
            coefficients, loss = self.fit(
                dataset, members, slots, num_train=num_train, device=device
            )
            logits = loss.logits(coefficients).cpu().numpy()[slots]
        return Logits(np.ascontiguousarray(logits, dtype=np.float32))

    def fit(
        self,
        dataset: Dataset,
        members: np.ndarray,
        slots: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
    ) -> "tuple[torch.Tensor, LogisticLoss]":
        """Coefficients [K, F + 1, stack] (intercept last; K = 1 for two classes) and their loss.

        The pool as a whole is solved first; its Hessian scales every model's problem, which then
        needs about ten evaluations instead of a hundred.
        """
        from mia_audit.models.logistic_loss import LogisticLoss

        num_slots, num_records = self.stack(device), members.shape[1]
        average = np.full((num_records, 1), self.C * num_train / num_records)
        weights = np.zeros((num_records, num_slots))
        weights[:, slots] = self.C * members.T
        pool = LogisticLoss.of(dataset, average, device)
        general, _ = pool.minimise(pool.zeros(), pool.scale(pool.zeros()), tolerance=1e-2)
        loss = LogisticLoss.of(dataset, weights, device)
        start = general.expand_as(loss.zeros())
        coefficients, converged = loss.minimise(start, pool.scale(general))
        if not converged[slots].all():
            raise ValueError(
                f"logistic does not converge on {dataset.name}: standardise the columns or "
                f"lower model.C (now {self.C:g})."
            )
        return coefficients, loss
