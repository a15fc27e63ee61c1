"""The penalised logistic loss of many training sets on one pool, its gradient and its scale.

Letters: N records, F features, K weight vectors (1 for two classes, else C), m training sets.
Coefficients are [K, F + 1, m], the intercept last.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import pad

from mia_audit.data.dataset import Dataset
from mia_audit.models.lbfgs import minimise

CHUNK = 1024
# The intercept of a class that a training set lacks has no finite optimum without a penalty;
# this one moves no intercept of a class that is there by more than 1e-6.
INTERCEPT_PENALTY = 1e-7


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """½‖w‖² + Σ weight · cross-entropy, for m weightings of the same records.

    records: float64 [N, F + 1], a column of ones last; targets: [K, N, 1], one-hot labels;
    weights: [N, m], C for a member and 0 for the others.
    """

    records: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor

    @classmethod
    def of(cls, dataset: Dataset, weights: np.ndarray, device: str) -> "LogisticLoss":
        """The loss on a data set's records under weights [N, m]."""
        records = pad(torch.from_numpy(dataset.X).to(device, torch.float64), (0, 1), value=1.0)
        one_hot = torch.eye(dataset.num_classes, dtype=torch.float64)[torch.from_numpy(dataset.y)]
        targets = one_hot.T[1:] if dataset.num_classes == 2 else one_hot.T
        return cls(
            records,
            targets.unsqueeze(2).contiguous().to(device),
            torch.from_numpy(weights).to(device, torch.float64),
        )

    def zeros(self) -> torch.Tensor:
        """Coefficients at zero, [K, F + 1, m]."""
        shape = (len(self.targets), self.records.shape[1], self.weights.shape[1])
        return torch.zeros(shape, dtype=torch.float64, device=self.records.device)

    def gradient(self, coefficients: torch.Tensor) -> torch.Tensor:
        """Gradients of the m losses, [K, F + 1, m], records in chunks that stay in cache."""
        gradient = coefficients * self._penalty()
        for start in range(0, len(self.records), CHUNK):
            rows = slice(start, start + CHUNK)
            chances = _probabilities(self.records[rows] @ coefficients)
            residuals = chances.sub_(self.targets[:, rows]).mul_(self.weights[rows])
            gradient += self.records[rows].T @ residuals
        return gradient

    def scale(self, coefficients: torch.Tensor, column: int = 0) -> torch.Tensor:
        """Cholesky factors [K, F + 1, F + 1] of the Hessian's diagonal blocks at the given
        coefficients [K, F + 1, 1], under one column of the weights."""
        chances = _probabilities(self.records @ coefficients)
        # The floor keeps a block invertible where the pool is separated.
        curvature = (chances * (1 - chances)).clamp_(min=1e-4) * self.weights[:, [column]]
        hessian = self.records.T @ (curvature * self.records)
        return torch.linalg.cholesky(hessian + torch.diag(self._penalty().flatten()))

    def minimise(
        self, start: torch.Tensor, scale: torch.Tensor, *, tolerance: float = 1e-6
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Optimal coefficients [K, F + 1, m] from `start`, and which converged, bool [m].

        scale: Cholesky factors L of an approximate Hessian; solved in v = Lᵀw, where the Hessian
        is near the identity.
        """
        shape = start.shape

        def unscaled(flat: torch.Tensor) -> torch.Tensor:
            return torch.linalg.solve_triangular(scale.mT, flat.view(shape), upper=True)

        def scaled_gradient(flat: torch.Tensor) -> torch.Tensor:
            gradient = self.gradient(unscaled(flat))
            return torch.linalg.solve_triangular(scale, gradient, upper=False).flatten(0, 1)

        solution, converged = minimise(
            scaled_gradient, (scale.mT @ start).flatten(0, 1), tolerance=tolerance
        )
        return unscaled(solution), converged

    def logits(self, coefficients: torch.Tensor) -> torch.Tensor:
        """Logits of all classes, [m, N, C]; of two classes the first has logit 0."""
        scores = (self.records @ coefficients).permute(2, 1, 0)
        return pad(scores, (1, 0)) if len(self.targets) == 1 else scores

    def _penalty(self) -> torch.Tensor:
        """Penalty of every coefficient, [F + 1, 1]."""
        penalty = torch.ones_like(self.records[0])
        penalty[-1] = INTERCEPT_PENALTY
        return penalty.unsqueeze(1)


def _probabilities(scores: torch.Tensor) -> torch.Tensor:
    """Class probabilities [K, N, m]; K = 1: of the second class."""
    return scores.sigmoid() if len(scores) == 1 else scores.softmax(0)
