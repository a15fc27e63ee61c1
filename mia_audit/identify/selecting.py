"""From records to a selection with its bounds: everything that is printed, drawn and logged."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mia_audit.identify.direction import candidates_warning, members_warning, pairs_won
from mia_audit.identify.exchangeability import Exchangeability, compare_covariates
from mia_audit.identify.reading import Records
from mia_audit.identify.settings import Estimator, IdentifyConfig, is_higher_member
from mia_audit.identify.sources import Sources
from mia_audit.stats import (
    JackknifeBeta,
    Moment,
    NoScaling,
    Selection,
    Storey,
    Subtraction,
    conformal_p_values,
    select_members,
)
from mia_audit.stats.member_share import ShareEstimator
from mia_audit.stats.thinned_bounds import thinned_false_discovery_bounds

Floats = NDArray[np.float64]

CONFIDENCE = 0.9


@dataclass(frozen=True, eq=False)
class Identified:
    """A selection among m candidates.

    ``bounds`` [m]: simultaneous upper bound on the share of non-members among all candidates with
    a p-value no larger, with probability ``CONFIDENCE``.  ``auc``: share of pairs in which a
    candidate looks more like a member than a calibration record.  ``found_members``: share of the
    confirmed members that the same cut-off would select (nan without any).
    """

    sources: Sources
    selection: Selection
    bounds: Floats
    auc: float
    found_members: float
    exchangeability: Exchangeability | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_selected(self) -> NDArray[np.bool_]:
        chosen = np.zeros(self.selection.num_candidates, dtype=np.bool_)
        chosen[self.selection.indices] = True
        return chosen

    @property
    def bound(self) -> float:
        """The bound on the share of non-members among those selected; nan where none is."""
        chosen = self.selection.indices
        if chosen.size == 0:
            return float("nan")
        return float(self.bounds[chosen[np.argmax(self.selection.p_values[chosen])]])

    @property
    def member_share(self) -> float:
        """Estimated share of training data among the candidates, within [0, 1]."""
        return float(np.clip(1 - self.selection.non_member_share, 0, 1))


def identify(sources: Sources, config: IdentifyConfig) -> Identified:
    """Select among the candidates as `config` says.  Nothing is read or written."""
    calibration, candidates = (
        _turned(records, config) for records in (sources.calibration, sources.candidates)
    )
    members = None if sources.members is None else _turned(sources.members, config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the selection's note says it
        selection = select_members(
            calibration, candidates, config.alpha, estimator=share_estimator(config, members)
        )
    bounds = thinned_false_discovery_bounds(
        selection.p_values, calibration.size, confidence=CONFIDENCE, seed=config.seed
    )
    alike = _compared(sources, config)
    return Identified(
        sources=sources,
        selection=selection,
        bounds=bounds,
        auc=pairs_won(candidates, calibration)[0],
        found_members=_found(selection, calibration, members),
        exchangeability=alike,
        warnings=tuple(_warnings(calibration, candidates, members, alike, config)),
        notes=tuple(sources.notes),
    )


def share_estimator(config: IdentifyConfig, members: Floats | None) -> ShareEstimator:
    """The estimator that `config` names; `members` are confirmed ones, higher = member."""
    match config.estimator:
        case Estimator.subtraction:
            return Subtraction() if config.eta is None else Subtraction(eta=config.eta)
        case Estimator.storey:
            return Storey()
        case Estimator.none:
            return NoScaling()
        case Estimator.moment:
            assert members is not None
            return Moment(members) if config.eta is None else Moment(members, eta=config.eta)
        case Estimator.jackknife_beta:
            return JackknifeBeta(seed=config.seed)


def _turned(records: Records, config: IdentifyConfig) -> Floats:
    """Scores with higher = more likely a member."""
    return records.scores if is_higher_member(config) else -records.scores


def _compared(sources: Sources, config: IdentifyConfig) -> Exchangeability | None:
    if not config.covariates:
        return None
    return compare_covariates(
        sources.calibration.covariates, sources.candidates.covariates, seed=config.seed
    )


def _found(selection: Selection, calibration: Floats, members: Floats | None) -> float:
    if members is None or selection.indices.size == 0:
        return float("nan")
    cut = selection.p_values[selection.indices].max()
    return float(np.mean(conformal_p_values(calibration, members) <= cut))


def _warnings(
    calibration: Floats,
    candidates: Floats,
    members: Floats | None,
    alike: Exchangeability | None,
    config: IdentifyConfig,
) -> list[str]:
    other = str(not is_higher_member(config)).lower()
    remedy = "" if config.score is not None else f" (set higher_is_member={other})"
    found = [candidates_warning(candidates, calibration, remedy)]
    if members is not None:
        found.append(members_warning(members, calibration, remedy))
    if alike is not None:
        found.append(alike.warning)
    return [sentence for sentence in found if sentence]
