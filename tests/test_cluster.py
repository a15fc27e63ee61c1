"""Settings of a cluster are judged before anything starts."""

import socket
from typing import Any

import pytest

from mia_audit.cluster import Cluster


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_cpus": 0}, "cluster.num_cpus=0: must be at least 1, or null"),
        ({"models_per_shard": 0}, "cluster.models_per_shard=0"),
        ({"num_gpus": -1}, "cluster.num_gpus=-1: must be at least 0"),
        ({"max_retries": -1}, "cluster.max_retries=-1"),
        ({"num_gpus": 99}, "cluster.num_gpus=99: torch finds . CUDA devices on this machine"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    settings: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ValueError, match=sentence):
        Cluster(**settings).check()


def test_gpus_of_a_cluster_are_not_looked_for_here() -> None:
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        head.listen()
        Cluster(address=f"127.0.0.1:{head.getsockname()[1]}", num_gpus=99).check()


def test_the_address_is_the_setting_then_the_environment_then_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert Cluster().resolved_address == "local"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.2:6379")
    assert Cluster().resolved_address == "10.0.0.2:6379"
    assert Cluster(address="10.0.0.1:6379").resolved_address == "10.0.0.1:6379"


def test_an_address_where_nothing_answers_is_one_sentence_at_once() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(ValueError, match="no Ray cluster answers there"):
        Cluster(address=address).check()


@pytest.mark.parametrize("address", ["nonsense", "http://head:8265", "ray://head:10001", ":6379"])
def test_an_address_of_another_kind_is_one_sentence(address: str) -> None:
    with pytest.raises(ValueError, match=r"give host:port of the cluster's head"):
        Cluster(address=address).check()


def test_the_device_follows_from_the_request() -> None:
    assert [Cluster(num_gpus=n).device for n in (0, 0.5, 2)] == ["cpu", "cuda", "cuda"]
