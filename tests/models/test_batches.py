"""Batches: the right records, the right weights, shapes that depend on the settings alone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mia_audit.models.batches import largest_training_set, make_schedule, steps_per_epoch


@given(
    num_records=st.integers(40, 200),
    batch=st.integers(4, 64),
    fraction=st.sampled_from([0.3, 0.5, 0.7]),
    seed=st.integers(0, 99),
)
@settings(max_examples=20, deadline=None)
def test_an_epoch_shows_every_record_once(
    num_records: int, batch: int, fraction: float, seed: int
) -> None:
    members = np.random.default_rng(seed).random((3, num_records)) < fraction
    num_train = round(fraction * num_records)
    slots = np.array([3, 0, 1])
    schedule = make_schedule(members, slots, num_slots=5, num_train=num_train, batch=batch)
    index = schedule.draw_epoch([torch.Generator().manual_seed(s) for s in range(5)])
    steps = steps_per_epoch(num_train, batch)
    assert index.shape == schedule.index_shape
    for model, slot in enumerate(slots):
        weights = schedule.weights[:, slot, 0]
        shown = index[:, slot][weights > 0]
        assert sorted(shown.tolist()) == np.flatnonzero(members[model]).tolist()
        sizes = (weights > 0).sum(1)
        cuts = [s * int(members[model].sum()) // steps for s in range(steps + 1)]
        assert sizes.tolist() == np.diff(cuts).tolist()
        torch.testing.assert_close(weights.sum(1), torch.ones(steps).double())
    assert (schedule.weights[:, [2, 4]] == 0).all()


def test_epochs_are_permuted_anew_by_each_models_generator() -> None:
    members = np.ones((2, 30), dtype=bool)
    schedule = make_schedule(members, np.arange(2), num_slots=2, num_train=30, batch=10)
    generators = [torch.Generator().manual_seed(s) for s in (1, 2)]
    first, second = schedule.draw_epoch(generators), schedule.draw_epoch(generators)
    assert not torch.equal(first, second)
    assert not torch.equal(first[:, 0], first[:, 1])


def test_capacity_depends_on_the_settings_alone() -> None:
    rng = np.random.default_rng(0)
    shapes = {
        make_schedule(
            rng.random((4, 1000)) < 0.5, np.arange(4), num_slots=4, num_train=500, batch=128
        ).index_shape
        for _ in range(5)
    }
    assert shapes == {(4, 4, 149)}
    assert largest_training_set(1000, 500) == 595
    assert largest_training_set(1000, 1000) == 1000


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 records, fewer"), (90, "90 records, but with num_train=50 at most 80")],
)
def test_names_a_training_set_that_does_not_fit(size: int, words: str) -> None:
    members = np.zeros((2, 100), dtype=bool)
    members[0, :50] = members[1, :size] = True
    with pytest.raises(ValueError, match=f"row 1 of members has {words}"):
        make_schedule(members, np.arange(2), num_slots=2, num_train=50, batch=16)
