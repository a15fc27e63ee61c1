"""Context subsampling and bagging: which records a model gets to see, and the averaging."""

import numpy as np
import pytest

from mia_audit.defences.bagging import Bagging, average
from mia_audit.defences.context_subsampling import ContextSubsampling
from mia_audit.models.linear import Logistic
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits, Outputs, Probabilities, probabilities
from tests.models.tables import gaussian_table

DATA = gaussian_table(3000, 4, 3)
MEMBERS = np.random.default_rng(0).random((2, 3000)) < 0.5
SEEDS = np.array([5, 6])


class Memory:
    """A model that says which records it was trained on, and remembers what it was asked."""

    def __init__(self) -> None:
        self.seeds: list[np.ndarray] = []
        self.num_train: list[int] = []

    def train(self, dataset, members, seeds, *, num_train, device, slots) -> Outputs:  # type: ignore[no-untyped-def]
        self.seeds.append(seeds)
        self.num_train.append(num_train)
        return Probabilities(
            np.stack([members, ~members, np.zeros_like(members)], -1).astype(float)
        )


def test_a_context_is_a_random_part_of_the_training_set() -> None:
    model = Memory()
    outputs = ContextSubsampling(0.3).train(model, DATA, MEMBERS, SEEDS, num_train=1500)
    seen = outputs.values[..., 0] == 1
    assert not (seen & ~MEMBERS).any()
    assert np.abs(seen.sum(1) / MEMBERS.sum(1) - 0.3).max() < 4 * np.sqrt(0.21 / 1500)
    assert model.num_train == [450]
    np.testing.assert_array_equal(model.seeds[0], SEEDS)
    again = ContextSubsampling(0.3).train(Memory(), DATA, MEMBERS[1:], SEEDS[1:], num_train=1500)
    np.testing.assert_array_equal(again.values[0], outputs.values[1])


def test_bags_are_drawn_anew_and_averaged() -> None:
    model = Memory()
    outputs = Bagging(bags=4, share=0.5).train(model, DATA, MEMBERS, SEEDS, num_train=1500)
    bags_with = 4 * probabilities(outputs)[..., 0]
    np.testing.assert_allclose(bags_with, bags_with.round(), atol=1e-5)
    assert (bags_with[~MEMBERS] < 1e-5).all()
    counts = np.bincount(bags_with[MEMBERS].round().astype(int), minlength=5) / MEMBERS.sum()
    expected = np.array([1, 4, 6, 4, 1]) / 16
    assert np.abs(counts - expected).max() < 4.5 * np.sqrt(0.375 * 0.625 / MEMBERS.sum())
    assert len({int(seed) for seeds in model.seeds for seed in seeds}) == 8


def test_average_is_that_of_probabilities() -> None:
    rng = np.random.default_rng(0)
    several = [Logits(rng.normal(0, 3, (2, 30, 3))) for _ in range(3)]
    expected = np.mean([probabilities(outputs) for outputs in several], axis=0)
    np.testing.assert_allclose(probabilities(average(list(several))), expected, rtol=1e-5)


@pytest.mark.parametrize("defence", [ContextSubsampling(1.0), Bagging(bags=1, share=1.0)])
@pytest.mark.parametrize("model", [MLP(hidden=[4], epochs=1), Logistic()])
def test_the_whole_set_once_is_plain_training(
    defence: ContextSubsampling | Bagging, model: MLP | Logistic
) -> None:
    ours = defence.train(model, DATA, MEMBERS, SEEDS, num_train=1500)
    plain = model.train(DATA, MEMBERS, SEEDS, num_train=1500)
    np.testing.assert_array_equal(ours.values, plain.values)


@pytest.mark.parametrize(
    ("defence", "words"),
    [
        (ContextSubsampling(0.0), "defence.share is 0.0"),
        (Bagging(share=1.1), "defence.share is 1.1"),
        (Bagging(bags=0), "defence.bags is 0"),
    ],
)
def test_refuses_settings_that_make_no_sense(
    defence: ContextSubsampling | Bagging, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        defence.supports(Logistic(), DATA)
