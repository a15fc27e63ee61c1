"""Shard files of any content: the right scores, or missing models; never a fault, never others."""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.shard import Shard, encode
from mia_audit.store import Store
from mia_audit.train_shard import ShardWork, train_shard
from tests.fuzz.running import IN_CI, LONG, inputs, within
from tests.fuzz.spoiling import arrays, npy, spoiled
from tests.test_store import make_plan

PLAN = make_plan(num_models=4, num_records=12)


def sound_shard() -> Shard:
    work = ShardWork(range(4), PLAN.members, PLAN.seeds, PLAN.num_train, "cpu")
    (shard,) = train_shard(PLAN.dataset, PLAN.model, PLAN.defence, work).shards
    return shard


SHARD = sound_shard()
NAME, CONTENT = encode(SHARD, PLAN.key)
DAMAGED = st.one_of(spoiled(CONTENT), arrays().map(npy))


def judge(content: bytes, *, forged: bool) -> None:
    """`forged`: the name carries the digest of the damaged bytes, so they are parsed."""
    digest = hashlib.sha256(content).hexdigest()[:16]
    name = f"shard-000000-000003-{digest}.npz" if forged else NAME
    with tempfile.TemporaryDirectory() as folder, within(60):
        (Path(folder) / PLAN.key).mkdir()
        path = Path(folder) / PLAN.key / name
        path.write_bytes(content)
        store = Store(folder)
        matrix = store.load(PLAN)
        assert path.read_bytes() == content
        if matrix.missing:
            assert matrix.missing == (0, 1, 2, 3)
            assert store.missing(PLAN) == [0, 1, 2, 3]
            store.write(PLAN, SHARD)
            store.clean(PLAN)
            matrix = store.load(PLAN)
        np.testing.assert_array_equal(matrix.members, PLAN.members)
        np.testing.assert_array_equal(matrix.scores, SHARD.scores)


@inputs(IN_CI)
@given(DAMAGED, st.booleans())
def test_any_bytes(content: bytes, forged: bool) -> None:
    judge(content, forged=forged)


@pytest.mark.slow
@inputs(LONG)
@given(DAMAGED, st.booleans())
def test_thousands_of_damaged_shards(content: bytes, forged: bool) -> None:
    judge(content, forged=forged)
