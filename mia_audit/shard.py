"""The file of one shard: the scores of a run of consecutive models, checksummed, free of pickle.

A shard's name says which models it holds and carries the sha256 of its bytes (first 16 digits):
planning needs names alone, and a truncated or altered file is recognised when it is read.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass

import numpy as np

from mia_audit.plan import SCORES_VERSION, Plan

_FIELDS = (
    "key", "scores_version", "models", "scores", "members",
    "train_accuracy", "test_accuracy", "seconds", "device",
)  # fmt: skip
_NAME = re.compile(r"shard-(\d{6,9})-(\d{6,9})-([0-9a-f]{16})\.npz")


class DamagedShardError(Exception):
    """A file that is not the shard its name says, or that belongs to another plan."""


@dataclass(frozen=True, eq=False)
class Shard:
    """Results of the m models `first`, `first` + 1, …

    scores float32 [m, N], members bool [m, N], train_accuracy and test_accuracy float32 [m],
    seconds of training on one worker, and the device it ran on ("cpu" or "cuda").
    """

    first: int
    scores: np.ndarray
    members: np.ndarray
    train_accuracy: np.ndarray
    test_accuracy: np.ndarray
    seconds: float
    device: str

    @property
    def models(self) -> range:
        return range(self.first, self.first + len(self.scores))


def shard_models(name: str) -> range | None:
    """The models that a file of this name holds; None when it is not a shard's name."""
    match = _NAME.fullmatch(name)
    return range(int(match[1]), int(match[2]) + 1) if match else None


def encode(shard: Shard, key: str) -> tuple[str, bytes]:
    """Name and bytes of the shard's file."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        key=np.array(key),
        scores_version=np.array(SCORES_VERSION),
        models=np.array(shard.models, dtype=np.int64),
        scores=shard.scores.astype(np.float32, copy=False),
        members=np.packbits(shard.members, axis=1),
        train_accuracy=shard.train_accuracy.astype(np.float32, copy=False),
        test_accuracy=shard.test_accuracy.astype(np.float32, copy=False),
        seconds=np.array(shard.seconds, dtype=np.float64),
        device=np.array(shard.device),
    )
    content = buffer.getvalue()
    first, last = shard.models[0], shard.models[-1]
    return f"shard-{first:06d}-{last:06d}-{_digest(content)}.npz", content


def decode(name: str, content: bytes, plan: Plan) -> Shard:
    """The shard in a file; raises DamagedShardError unless it is whole and of this plan."""
    models = shard_models(name)
    assert models is not None
    if not name.endswith(f"-{_digest(content)}.npz"):
        raise DamagedShardError(f"{name} is truncated or altered")
    try:
        fields = _fields(content)
        _check_plan(name, models, fields, plan)
        num_records = plan.members.shape[1]
        return Shard(
            first=models.start,
            scores=fields["scores"],
            members=np.unpackbits(fields["members"], axis=1, count=num_records).astype(bool),
            train_accuracy=fields["train_accuracy"],
            test_accuracy=fields["test_accuracy"],
            seconds=float(fields["seconds"]),
            device=str(fields["device"]),
        )
    except DamagedShardError:
        raise
    except Exception as error:  # on hostile bytes zipfile and numpy raise nearly anything
        raise DamagedShardError(f"{name} is not a shard of this version") from error


def _fields(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of a file, none of them larger than the file itself."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        if sum(entry.file_size for entry in file.zip.infolist()) > len(content):
            raise DamagedShardError("a shard holds no compressed arrays")
        return {name: file[name] for name in _FIELDS}


def _check_plan(name: str, models: range, fields: dict[str, np.ndarray], plan: Plan) -> None:
    """The membership rows are the cross-check: they name the plan's design, seed and pool."""
    num_records = plan.members.shape[1]
    shared = plan.members[models.start : models.stop]
    same = (
        str(fields["key"]) == plan.key
        and int(fields["scores_version"]) == SCORES_VERSION
        and np.array_equal(fields["models"], models)
        and fields["scores"].shape == (len(models), num_records)
        and fields["scores"].dtype == np.float32
        and bool(np.isfinite(fields["scores"]).all())
        and fields["train_accuracy"].shape == fields["test_accuracy"].shape == (len(models),)
        and np.array_equal(fields["members"][: len(shared)], np.packbits(shared, axis=1))
    )
    if not same:
        raise DamagedShardError(f"{name} belongs to another sweep")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
