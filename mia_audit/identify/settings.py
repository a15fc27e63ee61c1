"""What `jobs.identify` can be told, and the choices that can be checked without reading a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from mia_audit.tracking import Tracking


class Estimator(Enum):
    """How the share of non-members among the candidates is estimated."""

    subtraction = "subtraction"
    storey = "storey"
    none = "none"
    moment = "moment"
    jackknife_beta = "jackknife_beta"


class Score(Enum):
    """Scores computed from a language model's token log-probabilities."""

    perplexity = "perplexity"
    zlib = "zlib"
    min_k = "min_k"
    modified_entropy = "modified_entropy"
    renyi_k = "renyi_k"


@dataclass
class IdentifyConfig:
    """The whole configuration; `conf/identify.yaml` holds the defaults and explains each key."""

    calibration: str = "???"
    candidates: str = "???"
    members: str | None = None
    alpha: float = 0.1
    estimator: Estimator = Estimator.subtraction
    eta: float | None = None
    column: str = "score"
    id_column: str | None = None
    higher_is_member: bool | None = None
    score: Score | None = None
    covariates: list[str] = field(default_factory=list)
    output: str = "mia_identified.csv"
    figure: str | None = "mia_identified.png"
    seed: int = 0
    tracking: Tracking = field(default_factory=Tracking)


def check_settings(config: IdentifyConfig, given: Sequence[str] = ()) -> None:
    """Everything that can be wrong before a file is opened; `given` are the command line's keys.

    Raises ValueError with one sentence that names the key.
    """
    if not 0 < config.alpha < 1:
        raise ValueError(f"alpha={config.alpha:g}: must lie strictly between 0 and 1.")
    if config.seed < 0:
        raise ValueError(f"seed={config.seed}: must be 0 or more.")
    _check_eta(config)
    _check_direction(config, given)
    if config.estimator is Estimator.moment and config.members is None:
        raise ValueError(
            "members: estimator=moment needs a file of confirmed members; write members=FILE or"
            " choose estimator=subtraction."
        )


def is_higher_member(config: IdentifyConfig) -> bool:
    """Whether a higher score speaks for membership; every `score=` here is turned that way."""
    return config.score is not None or bool(config.higher_is_member)


def _check_eta(config: IdentifyConfig) -> None:
    if config.eta is None:
        return
    if config.estimator not in (Estimator.subtraction, Estimator.moment):
        raise ValueError(
            f"eta={config.eta:g}: estimator={config.estimator.value} reads no lower tail; leave eta"
            " out or choose estimator=subtraction or moment."
        )
    if not 0 < config.eta <= 0.5:
        raise ValueError(f"eta={config.eta:g}: must lie in (0, 0.5].")


def _check_direction(config: IdentifyConfig, given: Sequence[str]) -> None:
    if config.score is None:
        if config.higher_is_member is None:
            raise ValueError(
                f"higher_is_member: must be given, since column {config.column!r} may run either"
                " way; write higher_is_member=false for a loss or perplexity (lower means trained"
                " on) and higher_is_member=true for a likelihood or confidence."
            )
        return
    if config.higher_is_member is False:
        raise ValueError(
            f"higher_is_member=false: score={config.score.value} is already turned so that higher"
            " means more likely a member; leave higher_is_member out."
        )
    if "column" in given:
        raise ValueError(
            f"column={config.column}: cannot be combined with score={config.score.value}, which is"
            " computed from token_logprobs; leave one of them out."
        )
