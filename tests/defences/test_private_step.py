"""Clipped gradients of a stack equal those of a loop over examples and of opacus; noise."""

import math

import numpy as np
import pytest
import torch

from mia_audit.defences.private_step import add_noise, example_norms, sum_clipped_gradients
from mia_audit.models.mlp import MLP
from mia_audit.models.mlp_training import build_network
from mia_audit.models.stacked import StackedMLP
from tests.defences.naive import clipped_sum, opacus_gradient
from tests.models.reference import copy_model
from tests.models.tables import gaussian_table

DATA = gaussian_table(60, 5, 3)
RECORDS, LABELS = torch.from_numpy(DATA.X).double(), torch.from_numpy(DATA.y)
CLIP = 1.2


def make_network(hidden: list[int], width: int = 16, slots: int = 3) -> StackedMLP:
    network = build_network(MLP(hidden=hidden), DATA, slots, width, dtype=torch.float64)
    generators = [torch.Generator().manual_seed(seed) for seed in range(slots)]
    network.initialise(generators, np.arange(slots))
    return network


def make_passes(sizes: list[int], width: int) -> torch.Tensor:
    """A batch of the given size for each slot, spread over passes of `width` rows."""
    passes = -(-max(1, *sizes) // width)
    index = torch.full((passes, len(sizes), width), -1)
    for slot, size in enumerate(sizes):
        chosen = np.random.default_rng(slot).choice(len(DATA.X), size, replace=False)
        for rank, record in enumerate(chosen):
            index[rank // width, slot, rank % width] = int(record)
    return index


def gradients_of(network: StackedMLP, slot: int) -> list[torch.Tensor]:
    """A model's gradient in the order and shapes of torch.nn.Linear's parameters."""
    last = len(network.weights) - 1
    found = []
    for layer, weight in enumerate(network.weight_gradients):
        found.append(weight[slot] if layer == last else weight[slot].T)
        found.append(network.bias_gradients[layer][slot].flatten())
    return found


@pytest.mark.parametrize("hidden", [[], [7], [8, 6, 4]])
@pytest.mark.parametrize("sizes", [[9, 16, 1], [0, 40, 16], [3, 0, 17]])
def test_equals_a_loop_over_examples(hidden: list[int], sizes: list[int]) -> None:
    network = make_network(hidden)
    passes = make_passes(sizes, 16)
    sum_clipped_gradients(network, RECORDS, LABELS, passes, CLIP)
    for slot in range(3):
        chosen = passes[:, slot][passes[:, slot] >= 0]
        expected = clipped_sum(copy_model(network, slot), RECORDS[chosen], LABELS[chosen], CLIP)
        for ours, theirs in zip(gradients_of(network, slot), expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


def test_some_examples_are_clipped_and_some_are_not() -> None:
    network = make_network([8, 6])
    passes = make_passes([16, 16, 16], 16)
    sum_clipped_gradients(network, RECORDS, LABELS, passes, 1e9)
    share = (example_norms(network) > CLIP).double().mean()
    assert 0.1 < share < 0.9, "else the tests of clipping test nothing"


@pytest.mark.filterwarnings("ignore")
def test_equals_opacus() -> None:
    pytest.importorskip("opacus")
    network = make_network([8, 6])
    passes = make_passes([9, 16, 2], 16)
    sum_clipped_gradients(network, RECORDS, LABELS, passes, CLIP)
    for slot in range(3):
        chosen = passes[:, slot][passes[:, slot] >= 0]
        model = copy_model(network, slot)
        expected = opacus_gradient(model, RECORDS[chosen], LABELS[chosen], CLIP, 12.0)
        for ours, theirs in zip(gradients_of(network, slot), expected, strict=True):
            torch.testing.assert_close(ours / 12.0, theirs, rtol=0, atol=1e-10)


def test_noise_has_the_given_scale_and_belongs_to_its_model() -> None:
    network = make_network([200], slots=2)
    noise = torch.empty_like(network.parameters).view(2, -1)

    def draw(seeds: tuple[int, int]) -> torch.Tensor:
        network.gradient.zero_()
        add_noise(network, noise, [torch.Generator().manual_seed(s) for s in seeds], 2.5)
        return torch.stack(
            [torch.cat([g.flatten() for g in gradients_of(network, k)]) for k in (0, 1)]
        )

    first = draw((1, 2))
    count = first.numel()
    assert abs(first.std() / 2.5 - 1) < 4 / math.sqrt(2 * count)
    assert abs(first.mean()) < 4 * 2.5 / math.sqrt(count)
    assert abs(torch.corrcoef(first)[0, 1]) < 4 / math.sqrt(count / 2)
    second = draw((1, 3))
    assert torch.equal(first[0], second[0])
    assert not torch.equal(first[1], second[1])
    assert len(set(first[0].tolist())) == count // 2, "no draw is used twice"
