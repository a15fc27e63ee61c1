"""Scores and memberships of many models, as another program left them in a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.reading import nearest
from mia_audit.external.files import as_floats, as_members, load, local_path

LEAST_MODELS = 4
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class ExternalScores:
    """scores float32 [M, N], members bool [M, N], and sentences on what was understood."""

    scores: NDArray[np.float32]
    members: NDArray[np.bool_]
    notes: tuple[str, ...] = ()


def read_matrices(path: str | Path) -> ExternalScores:
    """Read every model's score of every record, and which records each was trained on.

    ``path`` is a folder with ``scores.npy`` [M, N] and ``members.npy`` [M, N], or one with a
    folder per model that holds ``keep.npy`` [N] and ``scores.npy`` (or ``scores/*.npy``, of
    which the last counts), as tensorflow_privacy's ``mi_lira_2021`` and ``lira-pytorch`` write
    them: scores [N], [N, K augmentations] or [evaluations, N, K]; the last evaluation counts
    and augmentations are averaged. Scores are φ: higher means more likely a member.

    Raises:
        ValueError: no such folder or files, shapes that do not agree, a score that is not
            finite, memberships that are not 0/1, fewer than 4 models, or most records in all
            models or in none.
    """
    folder = local_path(path, "scores")
    if not folder.is_dir():
        what = "is a file" if folder.exists() else f"does not exist{nearest(folder)}"
        raise ValueError(f"scores={path} {what}: name the folder with scores.npy and members.npy.")
    if (folder / "scores.npy").exists() and (folder / "members.npy").exists():
        scores, members, models, notes = _read_pair(folder)
    else:
        scores, members, models, notes = _read_experiments(folder)
    _check_models(folder, scores, models)
    notes += _check_memberships(folder, members) + _doubts(scores, members)
    return ExternalScores(scores.astype(np.float32), members, tuple(notes))


def _read_pair(
    folder: Path,
) -> tuple[NDArray[np.floating], NDArray[np.bool_], list[str], list[str]]:
    scores = as_floats(load(folder / "scores.npy"), folder / "scores.npy")
    members = as_members(load(folder / "members.npy"), folder / "members.npy")
    notes = []
    if scores.ndim == 3:
        notes.append(f"Scores are averages over {scores.shape[2]} augmentations.")
        scores = scores.mean(axis=2)
    if scores.ndim != 2 or scores.shape != members.shape:
        raise ValueError(
            f"{folder}: scores.npy is {list(scores.shape)} and members.npy is "
            f"{list(members.shape)}; both must be [models, records]."
        )
    return scores, members, [f"model {m}" for m in range(len(scores))], notes


def _read_experiments(
    folder: Path,
) -> tuple[NDArray[np.floating], NDArray[np.bool_], list[str], list[str]]:
    kept = sorted((file.parent for file in folder.glob("*/keep.npy")), key=_natural)
    found = {model: _score_file(model) for model in kept}
    models = [model for model in kept if found[model] is not None]
    if not models:
        raise ValueError(
            f"scores={folder} has neither scores.npy and members.npy nor a folder per model with "
            "keep.npy and scores.npy."
        )
    notes = [f"Read {len(models):,} folders, {models[0].name} to {models[-1].name}."]
    unscored = [model.name for model in kept if found[model] is None]
    if unscored:
        notes.append(f"Left out, since they have no scores: {', '.join(unscored)}.")
    members = [as_members(load(model / "keep.npy"), model / "keep.npy") for model in models]
    for model, row in zip(models, members, strict=True):
        if row.ndim != 1 or row.shape != members[0].shape:
            raise ValueError(
                f"{model / 'keep.npy'} is {list(row.shape)} where {models[0].name} has "
                f"{list(members[0].shape)}: all models must share one flat list of records."
            )
    scores = [
        _one_per_record(as_floats(load(file), file), len(keep), file)
        for file, keep in zip((found[model] for model in models), members, strict=True)
        if file is not None
    ]
    return np.stack(scores), np.stack(members), [model.name for model in models], notes


def _score_file(model: Path) -> Path | None:
    if (model / "scores.npy").exists():
        return model / "scores.npy"
    return max((model / "scores").glob("*.npy"), key=_natural, default=None)


def _one_per_record(
    scores: NDArray[np.floating], num_records: int, file: Path
) -> NDArray[np.floating]:
    """float [N] from [N], [N, K …], [evaluations, N] or [evaluations, N, K]."""
    shape = scores.shape
    if scores.ndim == 3 and shape[1] == num_records:
        return np.asarray(scores[-1].mean(axis=1))
    if scores.ndim >= 1 and shape[0] == num_records:
        return np.asarray(scores.reshape(num_records, -1).mean(axis=1))
    if scores.ndim == 2 and shape[1] == num_records:
        return np.asarray(scores[-1])
    raise ValueError(f"{file} is {list(shape)} where keep.npy has {num_records:,} records.")


def _check_models(folder: Path, scores: NDArray[np.floating], models: list[str]) -> None:
    if len(scores) < LEAST_MODELS:
        raise ValueError(f"{folder} has {len(scores)} models: at least {LEAST_MODELS} are needed.")
    bad = np.argwhere(~(np.abs(scores) <= LARGEST))
    if len(bad):
        model, record = bad[0]
        raise ValueError(
            f"{folder}: {len(bad):,} scores are not finite, the first in {models[model]} at "
            f"record {record}; clip probabilities before taking logarithms, or leave the model out."
        )


def _check_memberships(folder: Path, members: NDArray[np.bool_]) -> list[str]:
    count = members.sum(axis=0)
    fixed = int(np.count_nonzero((count == 0) | (count == len(members))))
    sentence = f"{fixed:,} of {members.shape[1]:,} records are in all models or in none"
    if 2 * fixed > members.shape[1]:
        raise ValueError(
            f"{folder}: {sentence} and cannot be judged; give only records that some models were "
            "trained on and others were not."
        )
    return [f"{sentence}, and cannot be judged."] if fixed else []


def _doubts(scores: NDArray[np.floating], members: NDArray[np.bool_]) -> list[str]:
    notes = []
    if scores.min() >= 0 and scores.max() <= 1:
        notes.append(
            "All scores lie within 0 and 1: probabilities should be turned into φ = log p − "
            "log(1 − p) first."
        )
    counts = members.sum(axis=1)
    both = (counts > 0) & (counts < members.shape[1])
    inside = (scores * members).sum(axis=1)[both] / counts[both]
    outside = (scores * ~members).sum(axis=1)[both] / (members.shape[1] - counts[both])
    shift = inside - outside
    if len(shift) > 1 and shift.mean() < -5 * shift.std(ddof=1) / np.sqrt(len(shift)):
        notes.append(
            "Members score lower than non-members: higher must mean more likely a member, so a "
            "loss needs its sign turned."
        )
    return notes


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts experiment-2 before experiment-10."""
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
