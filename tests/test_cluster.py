"""Settings of a cluster are judged before anything starts."""

import socket
from typing import Any

import pytest

from mia_audit.cluster import Cluster
from mia_audit.nodes import shards_at_once


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_cpus": 0}, "cluster.num_cpus=0: must be at least 1, or null"),
        ({"models_per_shard": 0}, "cluster.models_per_shard=0"),
        ({"num_gpus": -1}, "cluster.num_gpus=-1: must be at least 0"),
        ({"max_retries": -1}, "cluster.max_retries=-1"),
        ({"max_pending": -1}, "cluster.max_pending=-1: must be at least 0"),
        ({"cpus_per_shard": 0}, "cluster.cpus_per_shard=0: must be a whole number, or a fraction"),
        ({"cpus_per_shard": 1.5}, "cluster.cpus_per_shard=1.5: must be a whole number"),
        ({"cpus_per_shard": 2, "num_cpus": 1}, "cluster.cpus_per_shard=2: there are 1 CPUs"),
        ({"gpus_per_shard": 0.5}, "cluster.gpus_per_shard=0.5: cluster.num_gpus=0 is less"),
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


def test_a_name_that_no_host_can_have_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="no Ray cluster answers there"):
        Cluster(address=f"{'a' * 64}.b:1").check()


@pytest.mark.parametrize(
    "address", ["nonsense", "http://head:8265", "ray://head:10001", ":6379", "head:²"]
)
def test_an_address_of_another_kind_is_one_sentence(address: str) -> None:
    with pytest.raises(ValueError, match=r"give host:port of the cluster's head"):
        Cluster(address=address).check()


def test_the_device_follows_from_the_request() -> None:
    assert [Cluster(num_gpus=n).device for n in (0, 0.5, 2)] == ["cpu", "cuda", "cuda"]


@pytest.mark.parametrize(
    ("settings", "nodes", "shards"),
    [
        ({}, [{"CPU": 3.0}, {"CPU": 2.0, "GPU": 1.0}, {}], 5),
        ({"cpus_per_shard": 2}, [{"CPU": 3.0}, {"CPU": 2.0}], 2),
        ({"cpus_per_shard": 0.5}, [{"CPU": 3.0}], 6),
        ({"num_gpus": 1}, [{"CPU": 64.0}, {"CPU": 4.0, "GPU": 8.0}], 4),
        ({"num_gpus": 2, "gpus_per_shard": 0.25}, [{"CPU": 16.0, "GPU": 2.0}], 8),
        ({"num_gpus": 0.1}, [{"CPU": 16.0, "GPU": 1.0}], 10),
    ],
)
def test_a_shard_fits_into_one_node(
    settings: dict[str, Any], nodes: list[dict[str, float]], shards: int
) -> None:
    assert shards_at_once(nodes, Cluster(**settings)) == shards


def test_a_shard_takes_a_whole_gpu_unless_told() -> None:
    assert Cluster().gpu_share == 0
    assert Cluster(num_gpus=4).gpu_share == 1
    assert Cluster(num_gpus=0.5).gpu_share == 0.5
    assert Cluster(num_gpus=4, gpus_per_shard=0.25).gpu_share == 0.25
