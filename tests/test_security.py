"""Nothing is unpickled, nothing leaves the store, no server of ours is open to others."""

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mia_audit.external import read_matrices
from mia_audit.models.tabpfn import TabPFN
from mia_audit.store import Store

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [*sorted((ROOT / "mia_audit").rglob("*.py")), *sorted((ROOT / "jobs").glob("*.py"))]
UNPICKLERS = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
SAFE_LOADS = {("np", "load"): "allow_pickle", ("numpy", "load"): "allow_pickle"}
SAFE_LOADS |= {("torch", "load"): "weights_only"}
NEVER = {("pd", "read_pickle"), ("pandas", "read_pickle"), ("yaml", "load")}
NEVER |= {("yaml", "unsafe_load")}


class Leave:
    """Unpickling it creates the file `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_unpickles(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not {name.name.split(".")[0] for name in node.names} & UNPICKLERS
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in UNPICKLERS
        if isinstance(node, ast.Call):
            check_call(node, path)


def check_call(call: ast.Call, path: Path) -> None:
    where = f"{path}:{call.lineno}"
    if isinstance(call.func, ast.Name):
        assert call.func.id not in {"eval", "exec"}, where
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        name = (call.func.value.id, call.func.attr)
        assert name not in NEVER, where
        if name in SAFE_LOADS:
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
            safe = "False" if SAFE_LOADS[name] == "allow_pickle" else "True"
            assert given.get(SAFE_LOADS[name]) == safe, where
        if name[1] in {"call", "run", "Popen", "check_output"}:
            assert not any(word.arg == "shell" for word in call.keywords), where


def test_a_pickled_array_is_refused_unopened(tmp_path: Path) -> None:
    bait = tmp_path / "opened"
    np.save(tmp_path / "scores.npy", np.array([Leave(bait)], dtype=object), allow_pickle=True)
    np.save(tmp_path / "members.npy", np.zeros((6, 4), bool))
    with pytest.raises(ValueError, match=r"scores\.npy"):
        read_matrices(str(tmp_path))
    assert not bait.exists()


def test_a_checkpoint_that_is_a_pickle_is_not_unpickled(tmp_path: Path) -> None:
    bait, checkpoint = tmp_path / "opened", tmp_path / "tabpfn-v2-classifier.ckpt"
    checkpoint.write_bytes(pickle.dumps({"state_dict": Leave(bait)}))
    classifier = TabPFN(checkpoint=str(checkpoint)).classifier(0, "cpu")
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(pickle.UnpicklingError):
        classifier.fit(X, np.arange(20) % 2)
    assert not bait.exists()


@pytest.mark.parametrize("key", ["..", "../x", "/etc", "0" * 15, "0" * 16 + "/..", ""])
def test_a_key_cannot_leave_the_store(tmp_path: Path, key: str) -> None:
    kept = tmp_path / "x" / "file"
    kept.parent.mkdir()
    kept.touch()
    with pytest.raises(ValueError, match="16 hexadecimal digits"):
        Store(str(tmp_path / "store")).remove(key)
    assert kept.exists()


@pytest.mark.integration
def test_a_local_ray_has_its_token_on_and_shows_no_page() -> None:
    code = (
        "import os; from mia_audit.cluster import Cluster; from mia_audit.nodes import connect;"
        "connect(Cluster(num_cpus=1)); import ray; print(os.environ['RAY_AUTH_MODE']);"
        "from ray._private.worker import _global_node; print(repr(_global_node.webui_url))"
    )
    environment = {key: value for key, value in os.environ.items() if key != "RAY_AUTH_MODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT,
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["token", "''"]
