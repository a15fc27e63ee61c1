"""Every missing model lies in exactly one shard, and shards are whole stacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.sharding import cut_into_shards, cut_into_stacks, runs


@given(
    missing=st.sets(st.integers(0, 200), min_size=1),
    stack=st.integers(1, 40),
    workers=st.integers(1, 9),
    models_per_shard=st.none() | st.integers(1, 100),
)
def test_shards_hold_each_missing_model_once(
    missing: set[int], stack: int, workers: int, models_per_shard: int | None
) -> None:
    ordered = sorted(missing)
    shards = cut_into_shards(
        ordered, stack=stack, workers=workers, models_per_shard=models_per_shard
    )
    models = [model for shard in shards for model in shard]
    assert len(models) == len(set(models))
    assert missing <= set(models)
    assert {model // stack for model in models} == {model // stack for model in missing}
    for shard in shards:  # no stack is split between two shards
        others = {model // stack for other in shards if other != shard for model in other}
        assert others.isdisjoint(model // stack for model in shard)
        if models_per_shard is not None:
            assert len(shard) <= -(-models_per_shard // stack) * stack
    if stack == 1:
        assert models == ordered


@given(st.integers(0, 100), st.integers(1, 100), st.integers(1, 40))
def test_stacks_part_a_shard_at_multiples(start: int, length: int, stack: int) -> None:
    parts = cut_into_stacks(range(start, start + length), stack)
    assert [model for part in parts for model in part] == list(range(start, start + length))
    assert len({part[0] // stack for part in parts}) == len(parts)
    assert all(part[0] // stack == part[-1] // stack for part in parts)


@pytest.mark.parametrize(
    ("num_models", "stack", "workers", "sizes"),
    [
        (128, 32, 2, [32] * 4),  # a stack is the least
        (1024, 32, 2, [32] * 32),
        (64, 1, 2, [8] * 8),  # four shards a worker
        (4096, 1, 2, [32] * 128),  # no more than 32 models
        (10, 1, 8, [1] * 10),
        (40, 32, 2, [32, 8]),
    ],
)
def test_automatic_sizes(num_models: int, stack: int, workers: int, sizes: list[int]) -> None:
    shards = cut_into_shards(range(num_models), stack=stack, workers=workers)
    assert [len(shard) for shard in shards] == sizes


def test_a_gap_in_a_stack_is_trained_along() -> None:
    assert cut_into_shards([0, 3, 9], stack=4, workers=1) == [range(4), range(9, 10)]


def test_runs() -> None:
    assert runs([]) == []
    assert runs([0, 1, 2, 5, 7, 8]) == [range(3), range(5, 6), range(7, 9)]
    assert runs(np.flatnonzero([1, 0, 1]).tolist()) == [range(1), range(2, 3)]
