"""Starting Ray on a machine so busy that Ray itself gives up."""

import subprocess
import sys
from typing import Any

import pytest

from mia_audit import nodes
from mia_audit.cluster import Cluster
from mia_audit.faults import OutsideError

SLOW = "The current node timed out during startup. This could happen because …"


@pytest.fixture(autouse=True)
def no_ray() -> None:
    """Other tests of this process may have left theirs running."""
    nodes.disconnect()


def start(
    monkeypatch: pytest.MonkeyPatch, failures: int, told: str
) -> list["subprocess.Popen[Any]"]:
    """Connect with a ray.init that fails so often, leaving a process each time."""
    import ray

    left: list[subprocess.Popen[Any]] = []

    def init(**settings: Any) -> None:
        if len(left) < failures:
            code = "import time; time.sleep(60)"
            left.append(subprocess.Popen([sys.executable, "-c", code, "/ray/core/gcs_server"]))
            raise Exception(told)

    monkeypatch.setattr(ray, "init", init)
    nodes.connect(Cluster(num_cpus=1))
    return left


def test_it_is_started_again_and_leaves_nothing_of_the_first_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        left = start(monkeypatch, 2, SLOW)
        assert [process.poll() is not None for process in left] == [True, True]
        assert other.poll() is None
    finally:
        other.kill()


def test_a_machine_that_stays_busy_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutsideError, match=r"^Ray did not start in 5 tries .* too busy; run the"):
        start(monkeypatch, 99, SLOW)
    nodes._end_own_ray()


def test_other_faults_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Exception, match=r"^no disk$"):
        start(monkeypatch, 1, "no disk")
    nodes._end_own_ray()
