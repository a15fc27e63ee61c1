"""The shape of the house: who may import whom, and what importing the package costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "mia_audit"
FILES = sorted(PACKAGE.rglob("*.py"))
STATS = ("mia_audit.stats",)
ALLOWED = {
    "stats": STATS,
    "data": (*STATS, "mia_audit.data"),
    "models": (*STATS, "mia_audit.data", "mia_audit.models"),
    "defences": (*STATS, "mia_audit.data", "mia_audit.models", "mia_audit.defences"),
    "tracking": ("mia_audit.tracking", "mia_audit.masking"),
}
ONLY_IN = {
    "hydra": ("config.py",),
    "omegaconf": ("config.py",),
    "ray": ("sweep.py", "nodes.py"),
    "mlflow": ("tracking.py", "tracking"),
    "tabpfn": ("models",),
}
STATS_MAY_USE = {"numpy", "scipy", "mia_audit", *sys.stdlib_module_names}


def imported(path: Path) -> list[str]:
    """Dotted names that a file imports anywhere, `from a.b import c` as `a.b`."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_layers(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    for name in imported(path):
        assert not name.startswith("jobs"), f"{path} imports {name}: nobody imports jobs"
        if layer in ALLOWED and name.startswith("mia_audit."):
            assert name.startswith(ALLOWED[layer]), f"{path} imports {name}"
        owners = ONLY_IN.get(name.split(".")[0])
        assert owners is None or layer in owners, f"{path} imports {name}"


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parent.name == "stats"], ids=lambda p: p.name
)
def test_statistics_use_numpy_and_scipy_alone(path: Path) -> None:
    assert {name.split(".")[0] for name in imported(path)} <= STATS_MAY_USE


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("mia_audit", "torch ray mlflow tabpfn hydra pandas sklearn scipy"),
        ("mia_audit.stats", "torch ray mlflow tabpfn hydra pandas sklearn"),
        ("mia_audit.cli", "torch ray mlflow tabpfn sklearn matplotlib"),
    ],
)
def test_import_stays_light(module: str, heavy: str) -> None:
    code = f"import sys, {module}; print(sorted(set({heavy.split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_jobs_are_thin() -> None:
    for path in (PACKAGE.parent / "jobs").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 60
