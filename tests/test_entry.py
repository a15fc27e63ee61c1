"""A command answers help, and an interrupt, before it has imported anything heavy."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = "numpy scipy pandas torch ray mlflow hydra omegaconf sklearn fsspec rich"


@pytest.mark.parametrize("job", ["audit", "train", "compare", "identify", "simulate"])
def test_help_imports_nothing(job: str) -> None:
    code = (
        f"import sys, mia_audit.cli as cli; sys.argv = ['x', '--help']\n"
        f"try: cli.{job}()\n"
        f"finally: print('LOADED', sorted(set({HEAVY.split()!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"usage: python -m jobs.{job}" in done.stdout
    assert done.stdout.endswith("LOADED []\n")


@pytest.mark.parametrize("module", ["numpy", "scipy.special", "mia_audit.schema", "hydra"])
def test_an_interrupt_during_the_imports_is_one_line(module: str) -> None:
    """Python tells when `module` has just been imported."""
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "jobs.audit", "num_models=6", "dry_run=true"],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if line.rpartition("|")[2].strip() == module:
            break
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    told = [line for line in rest.splitlines() if not line.startswith("import time:")]
    assert process.returncode == 130, rest
    assert len(told) == 1, told
    assert told[0].endswith("To resume: python -m jobs.audit num_models=6 dry_run=true")
