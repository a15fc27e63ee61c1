"""What a worker does: train the models of one shard and score every record with each."""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from mia_audit.plan import Defence, Model
from mia_audit.shard import Shard
from mia_audit.sharding import cut_into_stacks, runs

if TYPE_CHECKING:
    from mia_audit.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class ShardWork:
    """A part of a plan: members bool [m, N] and seeds int64 [m] of the models `models`."""

    models: range
    members: np.ndarray
    seeds: np.ndarray
    num_train: int
    device: str


@dataclass(frozen=True, eq=False)
class ShardResult:
    """Shards of the models that could be trained, and for each of the others why it could not.

    `exhausted` are stacks for which memory did not suffice: another try, with less beside them,
    may help.
    """

    shards: list[Shard]
    failed: dict[int, str] = field(default_factory=dict)
    exhausted: tuple[range, ...] = ()


def train_shard(dataset: Dataset, model: Model, defence: Defence, work: ShardWork) -> ShardResult:
    """Train the models of `work`, one stack after another, on one thread.

    An exception fails its stack alone; a model whose scores are not finite fails alone.
    """
    import torch  # noqa: F401  (no clock is to count its first import, which takes seconds)

    results = []
    with threadpool_limits(1):
        for models in cut_into_stacks(work.models, model.stack(work.device)):
            try:
                results.append(_train_stack(dataset, model, defence, work, models))
            except Exception as error:  # whatever a model raises is reported, not a crash
                why = dict.fromkeys(models, _sentence(error))
                exhausted = (models,) if _is_out_of_memory(error) else ()
                results.append(ShardResult([], why, exhausted))
            if results[-1].exhausted:
                _free_memory()
    return ShardResult(
        shards=[shard for result in results for shard in result.shards],
        failed={index: why for result in results for index, why in result.failed.items()},
        exhausted=tuple(models for result in results for models in result.exhausted),
    )


def _train_stack(
    dataset: Dataset, model: Model, defence: Defence, work: ShardWork, models: range
) -> ShardResult:
    began = time.perf_counter()
    indices = np.arange(models.start, models.stop)
    at = indices - work.models.start
    members = work.members[at]
    outputs = defence.train(
        model,
        dataset,
        members,
        work.seeds[at],
        num_train=work.num_train,
        device=work.device,
        slots=indices % model.stack(work.device),
    )
    scores = outputs.confidence(dataset.y)
    right = outputs.predictions() == dataset.y
    assert scores.shape == members.shape
    finite = np.isfinite(scores).all(axis=1)
    seconds = time.perf_counter() - began
    shards = [
        Shard(
            first=run.start,
            scores=scores[rows],
            members=members[rows],
            train_accuracy=_share(right[rows], members[rows]),
            test_accuracy=_share(right[rows], ~members[rows]),
            seconds=seconds * len(run) / len(models),
            device=work.device,
        )
        for run in runs(indices[finite].tolist())
        for rows in [slice(run.start - models.start, run.stop - models.start)]
    ]
    why = "its scores are not finite: training diverged, try a smaller learning rate"
    return ShardResult(shards, dict.fromkeys(indices[~finite].tolist(), why))


def _share(right: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Share of right predictions among the chosen records of each model, float32 [m]."""
    return ((right & among).sum(axis=1) / among.sum(axis=1)).astype(np.float32)


def _sentence(error: Exception) -> str:
    """Kind and first line of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _is_out_of_memory(error: Exception) -> bool:
    """numpy and Python raise MemoryError, torch a RuntimeError, on a CPU a nameless one."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"MemoryError", "OutOfMemoryError"}) or "can't allocate" in str(error)


def _free_memory() -> None:
    """Give back what a failed stack has left behind, the GPU's cache included."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
