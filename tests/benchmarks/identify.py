"""jobs.identify on 1,000,000 candidates and 100,000 calibration scores, as a user runs it.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.identify

The whole command in an empty folder: reading two CSV files with text ids, selecting, the bounds at
every cut-off, writing a CSV and a figure, and logging the run to a fresh database.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
NUM_CALIBRATION, NUM_CANDIDATES = 100_000, 1_000_000
LIMIT_SECONDS, LIMIT_MB = 20, 2_000


def write_files(folder: Path) -> None:
    """Normal scores; 40 % of the candidates are members, two standard deviations higher."""
    rng = np.random.default_rng(0)
    shift = 2.0 * (rng.random(NUM_CANDIDATES) < 0.4)
    scores = {
        "calibration": rng.normal(size=NUM_CALIBRATION),
        "candidates": rng.normal(size=NUM_CANDIDATES) + shift,
    }
    for name, values in scores.items():
        ids = [f"{name}-{i:07d}" for i in range(values.size)]
        pd.DataFrame({"id": ids, "score": values}).to_csv(folder / f"{name}.csv", index=False)


def timed(folder: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and peak resident memory (MB) of one run."""
    command = [sys.executable, "-m", "jobs.identify", "calibration=calibration.csv",
               "candidates=candidates.csv", "higher_is_member=true"]  # fmt: skip
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    assert os.waitstatus_to_exitcode(status) == 0
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024  # KiB on Linux


def main() -> int:
    """Exit status 0 when both limits are kept."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        seconds, busy, megabytes = timed(folder)
    print(f"{NUM_CANDIDATES:,} candidates, {NUM_CALIBRATION:,} calibration scores:")
    print(f"{seconds:.1f} s (limit {LIMIT_SECONDS}), {busy:.1f} s of processor time")
    print(f"{megabytes:.0f} MB (limit {LIMIT_MB})")
    return 0 if seconds < LIMIT_SECONDS and megabytes < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
