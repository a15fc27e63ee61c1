"""Set-level selection (PTDI) for one model whose training set is known.

Letters: N records; z float [N] standardised scores, higher = more likely a member; n calibration
non-members, m candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mia_audit.stats.member_share import ShareEstimator, Subtraction
from mia_audit.stats.selection import Selection, select_members

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TargetSelection:
    """The selection for one target model, beside the truth.

    ``selected_records`` [k]: columns of the score matrix, ascending; ``selected_members`` bool
    [k]: which of them are members.  ``candidate_records`` [m], ``calibration_records`` [n]: the
    split.  ``power``: share of the candidate members selected (nan without any).
    """

    selection: Selection
    selected_records: Indices
    selected_members: NDArray[np.bool_]
    candidate_records: Indices
    calibration_records: Indices
    false_discovery_proportion: float
    power: float
    nan_entries: int

    @property
    def note(self) -> str:
        return self.selection.note


def select_for_target(
    z_target: ArrayLike,
    members_target: ArrayLike,
    *,
    alpha: float = 0.1,
    estimator: ShareEstimator = Subtraction(),  # noqa: B008 (a frozen value)
    member_share: float = 0.5,
    seed: int = 0,
    target: int = 0,
) -> TargetSelection:
    """PTDI on one model's scores ``z_target`` [N] with known membership ``members_target`` [N].

    Used for a sweep's model and for a user's own model alike; ``target`` only seeds the split.
    Raises ValueError for mismatched shapes, or fewer than 2 calibration non-members or no
    candidates after NaN scores are dropped.
    """
    z, members = checked_audit_scores(np.atleast_2d(z_target), np.atleast_2d(members_target))
    split = split_target(z[0], members[0], member_share, (seed, target))
    if not split.usable:
        raise ValueError(
            f"Target {target} has {split.calibration.size} calibration non-members and "
            f"{split.candidates.size} candidates; selection needs at least 2 and 1."
        )
    selection = select_members(
        split.z[split.calibration], split.z[split.candidates], alpha, estimator=estimator
    )
    records = split.candidates[selection.indices]
    order = np.argsort(records)
    hits = split.is_member[selection.indices]
    return TargetSelection(
        selection=selection,
        selected_records=records[order],
        selected_members=hits[order],
        candidate_records=split.candidates,
        calibration_records=split.calibration,
        false_discovery_proportion=float(np.sum(~hits) / max(1, hits.size)),
        power=float(hits.sum() / split.is_member.sum()) if split.is_member.any() else float("nan"),
        nan_entries=int(np.isnan(z).sum()),
    )


@dataclass(frozen=True, eq=False)
class TargetSplit:
    """One target's scores z [N], calibration columns [n], candidate columns [m], their truth."""

    z: Floats
    calibration: Indices
    candidates: Indices
    is_member: NDArray[np.bool_]

    @property
    def usable(self) -> bool:
        return self.calibration.size >= 2 and self.candidates.size >= 1


def split_target(
    z: Floats, members: NDArray[np.bool_], member_share: float, seed: Sequence[int]
) -> TargetSplit:
    """Split one target's records with a score into calibration and candidates, at random."""
    if not 0 <= member_share < 1:
        raise ValueError(f"member_share must be at least 0 and below 1, got {member_share!r}.")
    rng = np.random.default_rng(list(seed))
    known = ~np.isnan(z)
    outside = rng.permutation(np.flatnonzero(known & ~members))
    inside = rng.permutation(np.flatnonzero(known & members))
    calibration, test = np.split(outside, [outside.size // 2])
    num_in, num_out = _sizes(inside.size, test.size, member_share)
    candidates = np.concatenate([inside[:num_in], test[:num_out]])
    return TargetSplit(z, calibration, candidates, np.arange(candidates.size) < num_in)


def _sizes(members: int, non_members: int, share: float) -> tuple[int, int]:
    """The most members and non-members with members a ``share`` of the whole."""
    if members * (1 - share) >= non_members * share:
        return round(non_members * share / (1 - share)), non_members
    return members, round(members * (1 - share) / share)


def checked_audit_scores(z: ArrayLike, members: ArrayLike) -> tuple[NDArray, NDArray[np.bool_]]:
    """z as floats and members as bool, both [models, records]; ValueError where shapes differ."""
    scores, inside = np.asarray(z), np.asarray(members, dtype=bool)
    if not np.issubdtype(scores.dtype, np.floating):
        scores = scores.astype(np.float64)
    if scores.ndim != 2 or scores.shape != inside.shape:
        raise ValueError(
            f"z and members must share one shape [models, records], got {scores.shape} and "
            f"{inside.shape}."
        )
    return scores, inside
