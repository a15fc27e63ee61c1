"""An existing model to be audited: its score of each record, and what it was trained on."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mia_audit.external.files import as_floats, as_members, read_column

SMALLEST_PROBABILITY = 1e-12
SCORE_COLUMNS = ("score", "scores", "phi", "probability")
MEMBER_COLUMNS = ("member", "members", "is_member", "keep")


class TargetScale(Enum):
    """What a target's scores are: φ (logit-scaled confidence), or the true class's probability."""

    phi = "phi"
    probability = "probability"


def read_target(
    scores_path: str | Path,
    members_path: str | Path,
    *,
    num_records: int,
    scale: TargetScale | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read an existing model's score of each record and whether it was trained on it.

    Either file is ``.npy``, ``.csv`` or ``.parquet``: one column, or one named score (phi,
    probability) and member (keep). Probabilities of the true class become φ = log p − log(1−p)
    with p clipped to [1e-12, 1 − 1e-12].

    Args:
        num_records: N, the records of the sweep, in whose order both files are.
        scale: what the scores are; unless stated, scores that all lie within 0 and 1 are refused.

    Returns:
        φ float64 [N], members bool [N].

    Raises:
        ValueError: a file that cannot be read, another number of values than N, a value that is
            not finite, or a target without both members and non-members.
    """
    values = read_column(scores_path, "target.scores", SCORE_COLUMNS)
    members = as_members(read_column(members_path, "target.members", MEMBER_COLUMNS), members_path)
    for key, path, found in (
        ("target.scores", scores_path, values),
        ("target.members", members_path, members),
    ):
        if len(found) != num_records:
            raise ValueError(
                f"{key}={path} has {len(found):,} values for {num_records:,} records: it needs "
                "one a record, in the order of the pool."
            )
    phi = _phi(as_floats(values, scores_path).astype(np.float64), scores_path, scale)
    if members.all() or not members.any():
        raise ValueError(f"target.members={members_path} needs both members and non-members.")
    return phi, members


def _phi(
    values: NDArray[np.float64], path: str | Path, scale: TargetScale | None
) -> NDArray[np.float64]:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"target.scores={path}: {bad.size:,} scores are not finite, the first at record "
            f"{bad[0]}; clip probabilities before taking logarithms."
        )
    inside = bool(np.all((values >= 0) & (values <= 1)))
    if scale is TargetScale.probability:
        if not inside:
            raise ValueError(f"target.scores={path}: a probability lies outside 0 and 1.")
        p = np.clip(values, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
        return np.asarray(np.log(p) - np.log1p(-p))
    if inside and scale is None:
        raise ValueError(
            f"target.scores={path}: all scores lie within 0 and 1; state target.scale=probability "
            "or target.scale=phi."
        )
    return values
