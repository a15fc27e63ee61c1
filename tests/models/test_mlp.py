"""MLP: learns, repeats itself bit for bit, refuses what cannot work."""

import numpy as np
import pytest
import torch

from mia_audit.models.mlp import MLP, Optimiser
from tests.models.tables import gaussian_table, make_table

DATA = gaussian_table(400, 8, 3)
MEMBERS = np.random.default_rng(0).random((40, 400)) < 0.5
SEEDS = np.arange(100, 140)
SMALL = MLP(hidden=[16], epochs=5, batch=32)


def train(config: MLP, models: list[int], *, slots: list[int] | None = None) -> np.ndarray:
    outputs = config.train(
        DATA,
        MEMBERS[models],
        SEEDS[models],
        num_train=200,
        slots=None if slots is None else np.array(slots),
    )
    return outputs.values


def test_a_model_has_the_same_bits_whatever_is_trained_beside_it() -> None:
    stack = SMALL.stack("cpu")
    full = train(SMALL, list(range(stack)))
    assert full.shape == (stack, 400, 3)
    assert full.dtype == np.float32
    for model in (0, 3, stack - 1):
        np.testing.assert_array_equal(train(SMALL, [model], slots=[model])[0], full[model])
    np.testing.assert_array_equal(train(SMALL, [5, 1], slots=[5, 1]), full[[5, 1]])
    np.testing.assert_array_equal(train(SMALL, [0, 1, 2]), full[:3])


def test_randomness_comes_from_the_seed_alone() -> None:
    first = SMALL.train(DATA, MEMBERS[:2], np.array([7, 8]), num_train=200).values
    torch.manual_seed(123)
    again = SMALL.train(DATA, MEMBERS[:2], np.array([7, 8]), num_train=200).values
    other = SMALL.train(DATA, MEMBERS[:2], np.array([7, 9]), num_train=200).values
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[0], other[0])
    assert np.abs(first[1] - other[1]).max() > 1e-3


@pytest.mark.parametrize("optimiser", list(Optimiser))
def test_learns_an_easy_problem(optimiser: Optimiser) -> None:
    def loss_and_accuracy(epochs: int) -> tuple[float, float]:
        config = MLP(hidden=[16], epochs=epochs, batch=32, optimiser=optimiser, learning_rate=0.01)
        outputs = config.train(DATA, MEMBERS[:4], SEEDS[:4], num_train=200)
        loss = np.log1p(np.exp(-outputs.confidence(DATA.y)))[MEMBERS[:4]].mean()
        return float(loss), float((outputs.predictions() == DATA.y)[~MEMBERS[:4]].mean())

    (early, _), (late, accuracy) = loss_and_accuracy(1), loss_and_accuracy(30)
    assert late < early
    assert accuracy > 0.7, "chance is about a third"


def test_keeps_torch_to_one_thread_and_restores_it() -> None:
    before = torch.get_num_threads()
    train(MLP(hidden=[], epochs=1, batch=32), [0])
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (MLP(hidden=[8, 0]), "model.hidden"),
        (MLP(epochs=0), "model.epochs"),
        (MLP(batch=0), "model.batch"),
        (MLP(learning_rate=0.0), "model.learning_rate"),
        (MLP(momentum=1.0), "model.momentum"),
        (MLP(weight_decay=-1.0), "model.weight_decay"),
    ],
)
def test_refuses_settings_that_make_no_sense(config: MLP, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        config.supports(DATA)


def test_refuses_a_single_class() -> None:
    with pytest.raises(ValueError, match="one class"):
        SMALL.supports(make_table(np.zeros((4, 2)), np.zeros(4), 1))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_trains_the_same_models() -> None:
    config = MLP(hidden=[16], epochs=2, batch=32)
    arguments = (DATA, MEMBERS[:3], SEEDS[:3])
    on_cpu = config.train(*arguments, num_train=200).values
    on_gpu = config.train(*arguments, num_train=200, device="cuda").values
    np.testing.assert_allclose(on_gpu, on_cpu, atol=1e-3)
    again = config.train(*arguments, num_train=200, device="cuda").values
    np.testing.assert_array_equal(on_gpu, again)
