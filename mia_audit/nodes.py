"""Ray itself: starting or joining it, what its nodes can run at once, what a task asks of them."""

from __future__ import annotations

import atexit
import importlib
import logging
import math
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mia_audit.cluster import Cluster, has_token, no_answer, other_version, wants_token
from mia_audit.faults import OutsideError
from mia_audit.interruption import uninterrupted
from mia_audit.store_files import temporary_name

_RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # sends nothing home
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a warning at every task
    "RAY_task_oom_retries": "3",  # else for ever
    "RAY_worker_niceness": "0",  # else 15: starved by anything else that runs
}
_STARTS = 5
_PATIENCE = 60.0  # seconds a node is given to look for a file


def connect(cluster: Cluster, *, modules: Sequence[str] = ()) -> None:
    """Start Ray on this machine or join a cluster; nothing happens when that is done already.

    Local workers begin to import `modules` (such as the one that defines the model) at once. To
    be called from a thread that lives on: Ray's processes end with the one that started them.
    Raises ValueError when no cluster answers at the address, or it takes another token.
    """
    for name, value in _settings(cluster).items():
        os.environ.setdefault(name, value)
    import ray  # reads some of them now

    if ray.is_initialized():
        return
    cluster.check()
    local: dict[str, Any] = {}
    if cluster.is_local:
        local = {
            "num_cpus": cluster.num_cpus,
            "num_gpus": math.ceil(cluster.num_gpus),
            "include_dashboard": False,
        }
    address = cluster.resolved_address
    try:
        with _own_signal_handlers():
            _start_or_join(address=address, **local)
        atexit.register(_disconnect_at_exit)
    except ray.exceptions.AuthenticationError as error:
        raise wants_token(address) from error
    except ConnectionError as error:  # the port answered before, unless the address is auto
        raise (no_answer if address == "auto" else wants_token)(address) from error
    except RuntimeError as error:
        if "ersion mismatch" not in str(error):
            raise
        raise other_version(address) from error
    if cluster.is_local and modules:
        warm = ray.remote(num_cpus=1)(_import_modules)
        for _ in range(num_workers(cluster)):
            warm.remote(tuple(modules))


def _start_or_join(**settings: Any) -> None:
    """ray.init, tried again where a busy machine took longer than Ray's own 30 s to start it."""
    import ray

    for tries_left in reversed(range(_STARTS)):
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **settings)
            return
        except Exception as error:  # Ray raises a bare Exception for this
            if "timed out during startup" not in str(error):
                raise
            if not tries_left:
                raise OutsideError(
                    f"Ray did not start in {_STARTS} tries of 30 seconds: this machine is too busy;"
                    " run the same command again, or set fewer cluster.num_cpus."
                ) from error
        _end_own_ray()


def _end_own_ray() -> None:
    """End what a start that failed has left running, which Ray itself forgets until we exit.

    Children of this process alone, where /proc names them.
    """
    for folder in Path("/proc").glob("[0-9]*"):  # /proc/self/task/*/children may leave some out
        with suppress(FileNotFoundError, ProcessLookupError, ChildProcessError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"/ray/" in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                os.waitpid(int(folder.name), 0)


def _settings(cluster: Cluster) -> dict[str, str]:
    """Environment variables that Ray heeds, where the user has not set them."""
    if cluster.is_local:
        return _RAY_SETTINGS
    joining = {"RAY_NUM_REDIS_GET_RETRIES": "4"}  # seconds; the port has answered by then
    if has_token():
        joining["RAY_AUTH_MODE"] = "token"  # Ray starts with a token but joins without one
    return _RAY_SETTINGS | joining


def disconnect() -> None:
    """Stop a local Ray, or leave the cluster; its running tasks end."""
    import ray

    with uninterrupted():
        ray.shutdown()


def _disconnect_at_exit() -> None:
    """Before Ray's own handler, which Ctrl-C breaks off with a segmentation fault."""
    for number in (signal.SIGINT, signal.SIGTERM):  # for good: the process is ending
        signal.signal(number, signal.SIG_IGN)
    disconnect()


def task_options(cluster: Cluster) -> dict[str, Any]:
    """What Ray is told of every shard."""
    return {
        "num_cpus": cluster.cpus_per_shard,
        "num_gpus": cluster.gpu_share,
        "max_retries": cluster.max_retries,
    }


def num_workers(cluster: Cluster) -> int:
    """Shards that the cluster can train at once, as its nodes are now."""
    return shards_at_once((node["Resources"] for node in _alive_nodes()), cluster)


def shards_at_once(nodes: Iterable[Mapping[str, float]], cluster: Cluster) -> int:
    """The same for nodes with these resources: a shard's CPUs and GPU are on one node."""
    total = 0
    for resources in nodes:
        fitting = resources.get("CPU", 0) / cluster.cpus_per_shard
        if cluster.gpu_share:
            fitting = min(fitting, resources.get("GPU", 0) / cluster.gpu_share)
        total += int(fitting + 1e-9)
    return total


def check_shared(folder: Path | None, label: str) -> None:
    """Raise ValueError unless every node sees a file that this process writes to `folder`.

    `folder` is where a store on a disk lies, or is to lie; None for one that is not on a disk.
    On a single node, or with the store elsewhere, there is nothing to check.
    """
    nodes = _alive_nodes()
    if folder is None or len(nodes) < 2:
        return
    probe = folder / temporary_name()
    probe.write_bytes(b"")
    try:
        blind = [node["NodeManagerHostname"] for node in nodes if not _sees(node, str(probe))]
    finally:
        probe.unlink()
    if blind:
        raise ValueError(
            f"store={label}: the cluster has {len(nodes)} nodes, and {blind[0]} does not see this"
            " folder; give a folder that all of them share, or an address such as"
            " s3://bucket/folder."
        )


def _sees(node: Mapping[str, Any], path: str) -> bool:
    """Whether `path` exists on the node; one that leaves meanwhile has nothing to see."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there: Any = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    look = ray.remote(_exists).options(num_cpus=0, scheduling_strategy=there)
    try:
        return bool(ray.get(look.remote(path), timeout=_PATIENCE))
    except ray.exceptions.RayError:
        return node["NodeID"] not in {alive["NodeID"] for alive in _alive_nodes()}


def _exists(path: str) -> bool:
    return os.path.exists(path)


def _alive_nodes() -> list[dict[str, Any]]:
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def _import_modules(names: Sequence[str]) -> None:
    for name in names:
        importlib.import_module(name)


@contextmanager
def _own_signal_handlers() -> Iterator[None]:
    """Keep the caller's handlers: ray.init sets one that ends the process at SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
