"""A command answers help, and an interrupt, before it has imported anything heavy."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mia_audit.help import HELP, conf_folder, help_text

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


@pytest.mark.parametrize("job", ["audit", "store"])
def test_help_into_a_pipe_that_nobody_reads_is_no_fault(job: str) -> None:
    command = [sys.executable, "-m", f"jobs.{job}", "--help"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("job", HELP)
def test_help_fits_80_columns(job: str) -> None:
    lines = help_text(job).splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(help_text(job).replace("# ", "").split())
    for line in (conf_folder() / f"{job}.yaml").read_text().partition("# keys\n")[2].splitlines():
        assert " ".join(line.replace("# ", "").split()) in words


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
