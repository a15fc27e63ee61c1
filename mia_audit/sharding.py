"""Cutting the models that are missing into the tasks of a sweep.

A shard is a run of consecutive models, made of whole stacks (the models that one tensor program
trains), aligned on the model index: so a model's numbers do not depend on how the work was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# A worker that dies loses its shard, so automatic shards stay small.
_LARGEST_AUTOMATIC = 32
_SHARDS_PER_WORKER = 4


def cut_into_shards(
    missing: Sequence[int], *, stack: int, workers: int, models_per_shard: int | None = None
) -> list[range]:
    """Runs of models that together hold all `missing` ones (ascending indices).

    `models_per_shard` is rounded up to whole stacks; by default every one of `workers` gets four
    shards or more where there are enough stacks, and a shard no more than 32 models or one stack.
    A held model between two missing ones of its stack is trained along, which costs nothing.
    """
    spans = _spans(missing, stack)
    size = _stacks_per_shard(len(spans), stack, workers, models_per_shard)
    shards: list[range] = []
    stacks_in_last = size
    for span in spans:
        if stacks_in_last < size and shards[-1].stop == span.start:
            shards[-1] = range(shards[-1].start, span.stop)
            stacks_in_last += 1
        else:
            shards.append(span)
            stacks_in_last = 1
    return shards


def cut_into_stacks(models: range, stack: int) -> list[range]:
    """The parts of a shard that are trained as one program each."""
    starts = [models.start, *range((models.start // stack + 1) * stack, models.stop, stack)]
    return [range(start, min((start // stack + 1) * stack, models.stop)) for start in starts]


def runs(models: Iterable[int]) -> list[range]:
    """Ascending indices as runs of consecutive ones."""
    found: list[range] = []
    for model in models:
        if found and found[-1].stop == model:
            found[-1] = range(found[-1].start, model + 1)
        else:
            found.append(range(model, model + 1))
    return found


def _spans(missing: Sequence[int], stack: int) -> list[range]:
    """In each stack, from its first missing model to its last."""
    ends: dict[int, tuple[int, int]] = {}
    for model in missing:
        first, _ = ends.get(model // stack, (model, model))
        ends[model // stack] = (first, model)
    return [range(first, last + 1) for first, last in ends.values()]


def _stacks_per_shard(stacks: int, stack: int, workers: int, models_per_shard: int | None) -> int:
    if models_per_shard is not None:
        return -(-models_per_shard // stack)
    return max(1, min(stacks // (_SHARDS_PER_WORKER * workers), _LARGEST_AUTOMATIC // stack))
