"""TabPFN: the real classifier on a small random checkpoint of v2's own architecture."""

import os
import socket
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from mia_audit.data import GermanCredit
from mia_audit.data.codes import category_codes
from mia_audit.data.pool import draw_pool
from mia_audit.models.tabpfn import BUNDLED, TabPFN, average_log_probabilities
from tests.models.tables import gaussian_table, make_table

DATA = gaussian_table(80, 3, 3)
MEMBERS = np.random.default_rng(0).random((2, 80)) < 0.5
SEEDS = np.array([2**40 + 1, 5])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Weights the real class loads: v2's architecture, small and random."""
    from tabpfn.architectures import ARCHITECTURES

    torch.manual_seed(0)
    module = ARCHITECTURES["tabpfn_v2"]
    config, _ = module.parse_config({"max_num_classes": 10, "emsize": 24, "nlayers": 1, "nhead": 2})
    network = module.get_architecture(config)
    with torch.no_grad():
        for parameter in network.parameters():
            # A fresh network answers the same to everything: its last projections are zero.
            parameter.add_(0.3 * torch.randn_like(parameter))
    path = tmp_path_factory.mktemp("weights") / "tiny-tabpfn-v2-classifier.ckpt"
    content = {
        "state_dict": network.state_dict(),
        "config": asdict(config),
        "architecture_name": "tabpfn_v2",
    }
    torch.save(content, path)
    return str(path)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something tried to reach a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
def test_equals_the_classifier_itself(checkpoint: str) -> None:
    model = TabPFN(checkpoint=checkpoint, n_estimators=2)
    model.supports(DATA)
    outputs = model.train(DATA, MEMBERS, SEEDS, num_train=40)
    assert outputs.values.dtype == np.float32
    from tabpfn import TabPFNClassifier

    for index, row in enumerate(MEMBERS):
        classifier = TabPFNClassifier(
            model_path=checkpoint,
            device="cpu",
            n_estimators=2,
            random_state=int(SEEDS[index]) % 2**31,
        )
        expected = classifier.fit(DATA.X[row], DATA.y[row]).predict_proba(DATA.X)
        # The package sets probabilities below 0.001 to zero; a score must not.
        np.testing.assert_allclose(np.exp(outputs.values[index]), expected, atol=2e-3)
    assert np.ptp(outputs.confidence(DATA.y)) > 1e-3, "the answers must depend on the record"


def test_the_temperature_is_the_checkpoints_own_unless_given(checkpoint: str) -> None:
    def train(temperature: float | None) -> np.ndarray:
        model = TabPFN(checkpoint, n_estimators=1, softmax_temperature=temperature)
        return model.train(DATA, MEMBERS[:1], SEEDS[:1], num_train=40).values

    np.testing.assert_array_equal(train(None), train(0.9))
    assert np.abs(train(None) - train(2.0)).max() > 1e-3


def test_categories_are_shown_as_codes(checkpoint: str) -> None:
    pool = draw_pool(GermanCredit().load(), 60, seed=0)
    codes = category_codes(pool)
    assert codes.shape[1] == 20
    coded = make_table(codes, pool.y, 2)
    members = np.arange(60)[None] < 30
    model = TabPFN(checkpoint, n_estimators=1)
    shown, given = (model.train(d, members, SEEDS[:1], num_train=30) for d in (pool, coded))
    np.testing.assert_array_equal(shown.values, given.values)


def test_chunks_of_queries_change_nothing(checkpoint: str) -> None:
    whole = TabPFN(checkpoint=checkpoint, n_estimators=1)
    parts = TabPFN(checkpoint=checkpoint, n_estimators=1, query_chunk=13)
    first = whole.train(DATA, MEMBERS[:1], SEEDS[:1], num_train=40).values
    second = parts.train(DATA, MEMBERS[:1], SEEDS[:1], num_train=40).values
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_a_class_missing_from_the_context_is_all_but_impossible(checkpoint: str) -> None:
    members = (DATA.y != 1)[None]
    model = TabPFN(checkpoint=checkpoint, n_estimators=1)
    values = model.train(DATA, members, SEEDS[:1], num_train=40).values
    np.testing.assert_allclose(np.exp(values[0].astype(float)).sum(1), 1, atol=1e-5)
    assert (values[0][:, 1] < -27).all()
    with pytest.raises(ValueError, match="row 0 of members has fewer than two classes"):
        model.train(DATA, (DATA.y == 1)[None], SEEDS[:1], num_train=40)


def test_weights_are_read_once_a_process(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = TabPFN(checkpoint=checkpoint, n_estimators=1)
    model.train(DATA, MEMBERS[:1], SEEDS[:1], num_train=40)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the weights were read again")

    monkeypatch.setattr(torch, "load", refuse)
    model.train(DATA, MEMBERS[1:], SEEDS[1:], num_train=40)


def test_the_fingerprint_is_that_of_the_weights(checkpoint: str, tmp_path: Path) -> None:
    other = tmp_path / "other-tabpfn-v2-classifier.ckpt"
    other.write_bytes(Path(checkpoint).read_bytes() + b"x")
    assert TabPFN(checkpoint).fingerprint() != TabPFN(str(other)).fingerprint()


@pytest.mark.usefixtures("no_network")
def test_without_weights_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        ValueError, match=r"no TabPFN weights at .*download them.*model\.checkpoint"
    ):
        TabPFN().supports(DATA)
    with pytest.raises(ValueError, match="no TabPFN weights at nowhere"):
        TabPFN(checkpoint="nowhere/weights.ckpt").supports(DATA)
    with pytest.raises(ValueError, match=r"model\.version is v9: it is one of v2"):
        TabPFN(version="v9").supports(DATA)


def test_refuses_settings_and_data(checkpoint: str) -> None:
    with pytest.raises(ValueError, match=r"model\.n_estimators is 0"):
        TabPFN(checkpoint, n_estimators=0).supports(DATA)
    with pytest.raises(ValueError, match=r"model\.softmax_temperature is 0"):
        TabPFN(checkpoint, softmax_temperature=0).supports(DATA)
    with pytest.raises(ValueError, match="11 classes: TabPFN takes 2 to 10"):
        TabPFN(checkpoint).supports(gaussian_table(40, 3, 11))
    with pytest.raises(ValueError, match="3 classes: The bundled TabPFN weights take 2; give"):
        TabPFN(BUNDLED).supports(gaussian_table(40, 3, 3))
    with pytest.raises(ValueError, match="31 columns: The bundled TabPFN weights take up to 30"):
        TabPFN(BUNDLED).supports(gaussian_table(40, 31, 2))


def test_averages_probabilities_on_the_log_scale() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 5, 4))
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(average_log_probabilities(logits), np.log(chances.mean(0)))
    far = average_log_probabilities(np.array([[[0.0, -900.0]]]))
    np.testing.assert_allclose(far, [[0.0, -900.0]])
