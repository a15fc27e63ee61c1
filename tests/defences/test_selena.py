"""SELENA: labels come from networks that never saw the record; distillation is cross-entropy."""

import numpy as np
import pytest
import torch
from torch import nn

from mia_audit.defences.selena import Distilled, Selena
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import probabilities
from tests.defences.small import MEMBERS, SEEDS, SLOTS, Moment, make_small, plain_logits, small_data

SMALL = MLP(hidden=[8], epochs=3, batch=16)
DEFENCE = Selena(sub_models=4, unseen_by=2)


def test_every_record_is_unseen_by_l_of_k_drawn_evenly() -> None:
    unseen = Selena(sub_models=5, unseen_by=2).draw_unseen(np.array([1, 2]), 20_000)
    assert (unseen.sum(1) == 2).all()
    assert np.abs(unseen.mean(2) - 0.4).max() < 4.5 * np.sqrt(0.4 * 0.6 / 20_000)
    both = (unseen[0, 0] & unseen[0, 1]).mean()
    assert abs(both - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 20_000)
    agree = (unseen[0] & unseen[1]).mean()
    assert abs(agree - 0.16) < 0.01, "models draw independently"


def test_labels_are_the_mean_of_sub_models_that_did_not_see_the_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    train = MLP.train

    def spy(self: MLP, dataset, members, seeds, **settings):  # type: ignore[no-untyped-def]
        outputs = train(self, dataset, members, seeds, **settings)
        asked.append((members, seeds, probabilities(outputs)))
        return outputs

    monkeypatch.setattr(MLP, "train", spy)
    labels = DEFENCE.soft_labels(SMALL, small_data(), MEMBERS, SEEDS, num_train=45)
    assert len(asked) == 4
    assert len({int(seed) for _, seeds, _ in asked for seed in seeds}) == 12
    for model, record in [(0, 3), (1, 40), (2, 89)]:
        unseen = DEFENCE.draw_unseen(SEEDS, 90)[model, :, record]
        others = [
            said[model, record] for (_, _, said), out in zip(asked, unseen, strict=True) if out
        ]
        np.testing.assert_allclose(labels[model, record], np.mean(others, axis=0), atol=1e-6)
        for (members, _, _), out in zip(asked, unseen, strict=True):
            assert members[model, record] == (MEMBERS[model, record] and not out)


def test_a_records_own_label_changes_nothing_in_what_it_is_taught() -> None:
    """The soft label of a record does not depend on the record being a member at all."""
    without = MEMBERS.copy()
    record = int(np.flatnonzero(MEMBERS[1])[0])
    without[1, record] = False
    with_it, without_it = (
        DEFENCE.soft_labels(SMALL, small_data(), rows, SEEDS, num_train=45)[1, record]
        for rows in (MEMBERS, without)
    )
    np.testing.assert_array_equal(with_it, without_it)


def test_distillation_equals_cross_entropy_to_the_soft_labels() -> None:
    labels = np.random.default_rng(0).dirichlet(np.ones(3), (3, 90))
    small = make_small()

    def loss(logits: torch.Tensor, own: torch.Tensor, moment: Moment) -> torch.Tensor:
        soft = torch.from_numpy(labels[SLOTS.tolist().index(moment.slot)])
        return nn.functional.cross_entropy(logits, soft[moment.rows])

    expected = small.train_naively(loss)
    small.train(lambda stack: Distilled(stack, labels))
    np.testing.assert_allclose(small.logits(), expected, rtol=0, atol=1e-10)


def test_labels_that_are_certain_are_plain_training() -> None:
    small = make_small()
    certain = np.eye(3)[small_data().y]
    small.train(lambda stack: Distilled(stack, np.stack([certain] * 3)))
    np.testing.assert_array_equal(small.logits(), plain_logits())


@pytest.mark.parametrize("unseen_by", [0, 4])
def test_refuses_labels_from_nobody_and_sub_models_without_records(unseen_by: int) -> None:
    with pytest.raises(ValueError, match=r"defence.unseen_by is .*: it must be at least 1"):
        Selena(sub_models=4, unseen_by=unseen_by).supports(SMALL, small_data())
