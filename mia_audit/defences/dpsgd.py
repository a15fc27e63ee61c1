"""DP-SGD: training whose result depends little on any one record, with a proven bound."""

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.defences.accounting import (
    LARGEST_EPSILON,
    epsilon_spent,
    noise_needed,
    require_opacus,
)
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits


class Accountant(Enum):
    """Which of opacus's accountants turns noise into ε: prv is the tightest, rdp the fastest."""

    prv = "prv"
    rdp = "rdp"


@dataclass
class DPSGD:
    """Clipped and noised gradients of Poisson batches (arXiv 1607.00133), for model=mlp.

    epsilon: the ε to be kept at `delta`; the noise follows from it.
    noise_multiplier: given instead of epsilon: noise sd over the clipping norm; ε follows.
    max_grad_norm: clipping norm C of one example's gradient.
    Batch, epochs, optimiser and learning rate are the model's. The guarantee is for one record
    added or removed, which design=bernoulli measures.
    """

    epsilon: float | None = 8.0
    delta: float = 1e-5
    noise_multiplier: float | None = None
    max_grad_norm: float = 1.0
    accountant: Accountant = Accountant.prv

    @property
    def name(self) -> str:
        """How configuration and reports call this defence."""
        return "dpsgd"

    def supports(self, model: Any, dataset: Dataset) -> None:
        """ValueError: another model than mlp, settings that contradict, or opacus is missing."""
        if not isinstance(model, MLP):
            raise ValueError(f"defence=dpsgd trains model=mlp only, not {model.name}.")
        if (self.epsilon is None) == (self.noise_multiplier is None):
            raise ValueError(
                "Give defence.epsilon or defence.noise_multiplier and set the other to null: "
                "each follows from the other."
            )
        if self.epsilon is not None and not 0 < self.epsilon <= LARGEST_EPSILON:
            raise ValueError(
                f"defence.epsilon is {self.epsilon:g}: it must be positive and at most "
                f"{LARGEST_EPSILON:g}; for no noise set defence.epsilon=null and "
                "defence.noise_multiplier=0."
            )
        if self.noise_multiplier is not None and not 0 <= self.noise_multiplier < math.inf:
            raise ValueError(
                f"defence.noise_multiplier is {self.noise_multiplier:g}: it must be a number from "
                "0 up."
            )
        if not 0 < self.delta < 1:
            raise ValueError(f"defence.delta is {self.delta}: it must be between 0 and 1.")
        if not 0 < self.max_grad_norm < math.inf:
            raise ValueError(
                f"defence.max_grad_norm is {self.max_grad_norm}: it must be positive and finite."
            )
        require_opacus()

    def claimed_epsilon(self, model: MLP, *, num_train: int) -> float | None:
        """The ε promised at `delta`: the one asked for, or what the given noise spends; None
        without noise, or with less than the accountants can count.

        num_train: expected size of a training set.
        """
        if self.epsilon is not None:
            return self.epsilon
        spent = epsilon_spent(self.noise(model, num_train), **self._run(model, num_train))
        return spent if math.isfinite(spent) else None

    def noise(self, model: MLP, num_train: int) -> float:
        """The noise multiplier that training uses."""
        if self.noise_multiplier is not None:
            return self.noise_multiplier
        return noise_needed(self.epsilon, **self._run(model, num_train))

    def prepared(self, model: MLP, num_train: int) -> "DPSGD":
        """A copy that carries the noise found for its ε, so that workers need not search; it is
        for training alone (`supports` wants one of the two)."""
        return replace(self, noise_multiplier=self.noise(model, num_train))

    def _run(self, model: MLP, num_train: int) -> dict[str, Any]:
        """What an accountant has to know of a run beside its noise."""
        return {
            "delta": self.delta,
            "rate": sampling_rate(model, num_train),
            "steps": model.epochs * steps_per_epoch(num_train, model.batch),
            "accountant": self.accountant.value,
        }

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
        """Train m networks, one on each row of `members`, and ask each about every record.

        members: bool [m, N], m ≤ model.stack(device); seeds: int64 [m], a model's whole
        randomness; num_train: the design's expected training-set size, which fixes sampling
        rate and steps (they must not depend on the data); slots: as for MLP.train.
        """
        from mia_audit.defences.dpsgd_training import Mechanism, train_private_mlps

        slots = np.arange(len(members)) if slots is None else np.asarray(slots)
        assert len(members) == len(seeds) == len(slots) <= model.stack(device)
        rate = sampling_rate(model, num_train)
        mechanism = Mechanism(
            rate=rate,
            expected=rate * num_train,
            clip=self.max_grad_norm,
            noise_multiplier=self.noise(model, num_train),
        )
        values = train_private_mlps(
            model,
            mechanism,
            dataset,
            members,
            seeds,
            slots,
            steps=steps_per_epoch(num_train, model.batch),
            device=device,
        )
        return Logits(values)


def steps_per_epoch(num_train: int, batch: int) -> int:
    """Steps an epoch, for every model of the sweep."""
    return -(-num_train // batch)


def sampling_rate(model: MLP, num_train: int) -> float:
    """Probability of a member to be in a batch."""
    return min(1.0, model.batch / num_train)
