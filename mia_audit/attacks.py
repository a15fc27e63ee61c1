"""Attacks as config nouns: settings, a name, and the statistic for every target at once.

`statistic(scores, members)` takes logit-scaled confidences φ [M, N] and bool [M, N] and returns
[M, N], higher meaning more likely a member.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from mia_audit.stats.attacks import calibrated_loss, lira, lira_offline
from mia_audit.stats.relative_attacks import base, rmia
from mia_audit.stats.scores import log_confidence

# Built by call: `global` is a keyword and cannot be an attribute of a class body.
Variance = Enum(
    "Variance",
    {"per_record": "per_record", "global": "global", "bayes": "bayes"},
    module=__name__,
)


class Attack(Protocol):
    """What every attack offers."""

    @property
    def name(self) -> str: ...

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray: ...


@dataclass
class LiRA:
    """Likelihood-ratio attack, online: normal in and out densities (arXiv 2112.03570)."""

    variance: Variance = Variance.per_record

    @property
    def name(self) -> str:
        return "lira"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return lira(scores, members, variance=self.variance.value)


@dataclass
class LiRAOffline:
    """LiRA with out shadows alone: how improbable is the score for a non-member."""

    variance: Variance = Variance.per_record

    @property
    def name(self) -> str:
        return "lira_offline"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return lira_offline(scores, members, variance=self.variance.value)


@dataclass
class RMIA:
    """Robust membership inference (arXiv 2312.03262); offline when `offline_a` is given."""

    gamma: float = 1.0
    offline_a: float | None = None

    @property
    def name(self) -> str:
        return "rmia"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return rmia(log_confidence(scores), members, gamma=self.gamma, offline_a=self.offline_a)


@dataclass
class BASE:
    """Loss against the mean confidence of the other models (arXiv 2505.24089)."""

    @property
    def name(self) -> str:
        return "base"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return base(log_confidence(scores), members)


@dataclass
class CalibratedLoss:
    """The score less its mean over models that have not seen the record."""

    @property
    def name(self) -> str:
        return "calibrated_loss"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return calibrated_loss(scores, members)


@dataclass
class Loss:
    """The score itself: the model is confident, so it has seen the record."""

    @property
    def name(self) -> str:
        return "loss"

    def statistic(self, scores: np.ndarray, members: np.ndarray) -> np.ndarray:
        return np.asarray(scores)
