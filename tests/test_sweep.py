"""Settings of a cluster are judged before anything starts."""

import signal
import subprocess
import sys
from typing import Any

import pytest

from mia_audit.sweep import Cluster, _own_signal_handlers


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
    Cluster(address="10.0.0.1:6379", num_gpus=99).check()


def test_the_address_is_the_setting_then_the_environment_then_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert Cluster().resolved_address == "local"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.2:6379")
    assert Cluster().resolved_address == "10.0.0.2:6379"
    assert Cluster(address="10.0.0.1:6379").resolved_address == "10.0.0.1:6379"


def test_the_device_follows_from_the_request() -> None:
    assert [Cluster(num_gpus=n).device for n in (0, 0.5, 2)] == ["cpu", "cuda", "cuda"]


def test_signal_handlers_are_kept() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _own_signal_handlers():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) == before


def test_importing_the_sweep_imports_neither_ray_nor_torch() -> None:
    code = (
        "import sys, mia_audit.sweep; print(sorted({'ray', 'torch', 'mlflow'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
