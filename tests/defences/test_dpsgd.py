"""DPSGD: whole runs against a naive loop, bits, accounting, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from mia_audit.defences.dpsgd import DPSGD, Accountant
from mia_audit.defences.dpsgd_training import Mechanism, Randomness, train_private_stack
from mia_audit.defences.none import NoDefence
from mia_audit.defences.poisson import draw_batches
from mia_audit.models.linear import Logistic
from mia_audit.models.mlp import MLP, Optimiser
from mia_audit.models.mlp_training import build_network, build_optimiser
from mia_audit.stats import draw_members
from tests.defences.naive import clipped_sum
from tests.models.reference import copy_model, make_torch_optimiser
from tests.models.tables import gaussian_table

pytest.importorskip("opacus")

DATA = gaussian_table(300, 6, 2)
MEMBERS = np.random.default_rng(0).random((8, 300)) < 0.5
SEEDS = np.arange(50, 58)
SMALL = MLP(hidden=[8], epochs=2, batch=16)
NOISY = DPSGD(epsilon=None, noise_multiplier=1.0, accountant=Accountant.rdp)


@pytest.mark.parametrize("optimiser", list(Optimiser))
def test_a_run_equals_a_naive_loop(optimiser: Optimiser) -> None:
    config = MLP(hidden=[5], epochs=2, batch=4, optimiser=optimiser, weight_decay=0.01)
    mechanism = Mechanism(rate=0.05, expected=2.0, clip=0.8, noise_multiplier=0.6)
    slots = np.array([0, 2])
    rows = [np.arange(0, 50), np.zeros(0, dtype=np.int64), np.arange(40, 75)]
    network = build_network(config, DATA, 3, 3, dtype=torch.float64)
    network.initialise([torch.Generator().manual_seed(s) for s in range(3)], slots)
    records, labels = torch.from_numpy(DATA.X).double(), torch.from_numpy(DATA.y)

    def randomness() -> Randomness:
        return Randomness.of(np.array([7, 9]), slots, 3, "cpu")

    expected = {}
    for slot in slots:
        model = copy_model(network, slot)
        torch_optimiser = make_torch_optimiser(config, model)
        streams = randomness()
        for _ in range(config.epochs):
            batches = draw_batches(rows, streams.batches, rate=0.05, steps=9, width=3)
            for batch in batches:
                chosen = torch.from_numpy(batch[:, slot][batch[:, slot] >= 0])
                total = clipped_sum(model, records[chosen], labels[chosen], 0.8)
                flat = torch.empty(len(network.parameters) // 3, dtype=torch.float64)
                flat.normal_(generator=streams.noise[slot])
                noise = linear_shapes(flat, config)
                for parameter, gradient, own in zip(model.parameters(), total, noise, strict=True):
                    parameter.grad = (gradient + 0.6 * 0.8 * own) / 2.0
                torch_optimiser.step()
        expected[slot] = model(records).detach().numpy()
    with torch.no_grad():
        train_private_stack(
            network,
            build_optimiser(config, network),
            mechanism,
            records,
            labels,
            rows,
            randomness(),
            epochs=2,
            steps=9,
        )
    logits = network.predict(records)
    for slot in slots:
        np.testing.assert_allclose(logits[slot], expected[slot], rtol=0, atol=1e-10)


def linear_shapes(flat: torch.Tensor, config: MLP) -> list[torch.Tensor]:
    """One model's noise in the shapes of torch.nn.Linear's parameters (one hidden layer)."""
    inputs, hidden, classes = DATA.X.shape[1], config.hidden[0], DATA.num_classes
    parts = flat.split([inputs * hidden, hidden, hidden * classes, classes])
    return [parts[0].view(inputs, hidden).T, parts[1], parts[2].view(classes, hidden), parts[3]]


def test_a_model_has_the_same_bits_whatever_is_trained_beside_it() -> None:
    full = NOISY.train(SMALL, DATA, MEMBERS, SEEDS, num_train=150).values
    some = np.array([2, 7])
    part = NOISY.train(SMALL, DATA, MEMBERS[some], SEEDS[some], num_train=150, slots=some)
    np.testing.assert_array_equal(part.values, full[some])
    alone = NOISY.train(SMALL, DATA, MEMBERS[[6]], SEEDS[[6]], num_train=150, slots=np.array([6]))
    np.testing.assert_array_equal(alone.values[0], full[6])
    other = NOISY.train(SMALL, DATA, MEMBERS[[6]], SEEDS[[5]], num_train=150, slots=np.array([6]))
    assert np.abs(other.values[0] - full[6]).max() > 1e-3


def test_learns_with_little_noise_and_not_with_much() -> None:
    config = MLP(hidden=[16], epochs=30, batch=32, learning_rate=0.01)

    def accuracy(noise: float) -> float:
        defence = DPSGD(epsilon=None, noise_multiplier=noise)
        outputs = defence.train(config, DATA, MEMBERS[:8], SEEDS[:8], num_train=150)
        return float((outputs.predictions() == DATA.y)[~MEMBERS[:8]].mean())

    assert accuracy(0.5) > 0.8
    assert accuracy(100.0) < 0.7


def test_an_empty_training_set_is_private_too() -> None:
    nobody = np.zeros((1, 300), dtype=bool)
    values = NOISY.train(SMALL, DATA, nobody, SEEDS[:1], num_train=150).values
    assert np.isfinite(values).all()


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_noise_keeps_the_epsilon_asked_for(epsilon: float) -> None:
    defence = DPSGD(epsilon=epsilon, accountant=Accountant.rdp)
    noise = defence.noise(SMALL, 150)
    spent = DPSGD(epsilon=None, noise_multiplier=noise, accountant=Accountant.rdp)
    claimed = spent.claimed_epsilon(SMALL, num_train=150)
    assert claimed is not None
    assert epsilon - 0.03 <= claimed <= epsilon
    assert defence.claimed_epsilon(SMALL, num_train=150) == epsilon


def test_epsilon_is_opacuss() -> None:
    from opacus.accountants import RDPAccountant

    counted = RDPAccountant()
    for _ in range(20):
        counted.step(noise_multiplier=1.0, sample_rate=16 / 150)
    claimed = NOISY.claimed_epsilon(SMALL, num_train=150)
    assert claimed == pytest.approx(counted.get_epsilon(1e-5), rel=1e-9)
    tight = DPSGD(epsilon=None, noise_multiplier=1.0).claimed_epsilon(SMALL, num_train=150)
    assert tight is not None
    assert tight < claimed


@pytest.mark.parametrize("noise", [0.1, 0.05, 1e-3, 1e-9])
def test_with_little_noise_the_claim_is_the_rdp_accountants(noise: float) -> None:
    """Where PRV's grid would not fit; at rate 1 RDP has a closed form, min over α > 1 of
    Tα/(2σ²) + log(1/δ)/(α − 1), loose by the constants of the conversion alone."""
    defence = DPSGD(epsilon=None, noise_multiplier=noise)
    full = MLP(epochs=20, batch=1000)
    claimed = defence.claimed_epsilon(full, num_train=150)
    assert claimed == replace(defence, accountant=Accountant.rdp).claimed_epsilon(
        full, num_train=150
    )
    assert claimed is not None
    rho = 20 / (2 * noise**2)
    loose = min(rho * a + math.log(1e5) / (a - 1) for a in [1 + x / 10 for x in range(1, 100)])
    assert rho < claimed <= loose * (1 + 1e-12)


def test_with_next_to_no_noise_nothing_is_claimed() -> None:
    for noise in (1e-10, 1e-160, 5e-324):
        defence = DPSGD(epsilon=None, noise_multiplier=noise)
        assert defence.claimed_epsilon(SMALL, num_train=150) is None


def test_the_largest_epsilons_find_noise() -> None:
    """Also between PRV's and RDP's values at their switch, where no noise spends just ε."""
    full = MLP(epochs=1, batch=1000)
    for epsilon in (98.0, 100.0):
        noise = DPSGD(epsilon=epsilon).noise(full, 150)
        spent = DPSGD(epsilon=None, noise_multiplier=noise).claimed_epsilon(full, num_train=150)
        assert spent is not None
        assert 0.8 * epsilon < spent <= epsilon


def test_noise_is_opacuss() -> None:
    from opacus.accountants.utils import get_noise_multiplier

    theirs = get_noise_multiplier(
        target_epsilon=8.0, target_delta=1e-5, sample_rate=1.0, steps=2,
        accountant="prv", epsilon_tolerance=0.01,
    )  # fmt: skip
    assert DPSGD(epsilon=8.0).noise(MLP(epochs=2, batch=150), 150) == theirs


def test_one_full_batch_spends_what_one_gaussian_release_does() -> None:
    """Without subsampling ε(δ) has a closed form: δ = Φ(½/σ − εσ) − e^ε Φ(−½/σ − εσ)."""
    from scipy.stats import norm

    config = MLP(epochs=1, batch=1000)
    claimed = DPSGD(epsilon=None, noise_multiplier=2.0).claimed_epsilon(config, num_train=500)
    assert claimed is not None
    upper = norm.cdf(0.25 - 2 * claimed) - math.exp(claimed) * norm.cdf(-0.25 - 2 * claimed)
    lower = claimed - 0.03
    above = norm.cdf(0.25 - 2 * lower) - math.exp(lower) * norm.cdf(-0.25 - 2 * lower)
    assert upper <= 1e-5 <= above


def test_without_noise_or_defence_nothing_is_claimed() -> None:
    clipped = DPSGD(epsilon=None, noise_multiplier=0.0)
    assert clipped.claimed_epsilon(SMALL, num_train=150) is None
    assert NoDefence().claimed_epsilon(SMALL, num_train=150) is None


@pytest.mark.parametrize(
    ("defence", "words"),
    [
        (DPSGD(noise_multiplier=1.0), "set the other to null"),
        (DPSGD(epsilon=None), "set the other to null"),
        (DPSGD(epsilon=0.0), "defence.epsilon is 0"),
        (DPSGD(epsilon=math.nan), "defence.epsilon is nan"),
        (DPSGD(epsilon=math.inf), "defence.epsilon is inf.* defence.noise_multiplier=0"),
        (DPSGD(epsilon=1e6), r"defence.epsilon is 1e\+06: it must be positive and at most 100"),
        (DPSGD(epsilon=None, noise_multiplier=math.nan), "defence.noise_multiplier is nan"),
        (DPSGD(epsilon=None, noise_multiplier=math.inf), "defence.noise_multiplier is inf"),
        (DPSGD(epsilon=None, noise_multiplier=-1.0), "defence.noise_multiplier is -1"),
        (DPSGD(delta=0.0), "defence.delta is 0"),
        (DPSGD(max_grad_norm=0.0), "defence.max_grad_norm is 0"),
        (DPSGD(max_grad_norm=math.inf), "defence.max_grad_norm is inf"),
    ],
)
def test_refuses_settings_that_make_no_sense(defence: DPSGD, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        defence.supports(SMALL, DATA)


def test_says_when_no_noise_keeps_the_epsilon() -> None:
    defence = DPSGD(epsilon=0.01, accountant=Accountant.rdp)
    with pytest.raises(ValueError, match=r"defence.epsilon is 0.01: no noise .* accountant=prv"):
        defence.noise(SMALL, 150)


def test_refuses_other_models_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="trains model=mlp only, not logistic"):
        DPSGD().supports(Logistic(), DATA)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install opacus"):
        DPSGD().supports(SMALL, DATA)


def test_full_batches_without_clipping_or_noise_are_plain_training() -> None:
    """The neutral setting: every record in every batch, each gradient whole, nothing added."""
    members = draw_members(8, 300, design="fixed_size", seed=1)
    model = MLP(hidden=[8], epochs=20, batch=150, optimiser=Optimiser.sgd, learning_rate=0.05)
    defence = DPSGD(epsilon=None, noise_multiplier=0.0, max_grad_norm=1e6)
    ours = defence.train(model, DATA, members, SEEDS, num_train=150)
    plain = model.train(DATA, members, SEEDS, num_train=150)
    np.testing.assert_allclose(ours.values, plain.values, rtol=0, atol=1e-4)
    assert np.abs(plain.values).max() > 1
