"""`python -m jobs.identify` as a user runs it, in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-m", "jobs.identify", *arguments],
        cwd=folder, env=environment, text=True, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr
