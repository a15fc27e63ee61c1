"""python -m tests.benchmarks.start_up — how long a user waits before anything is trained.

Seconds of the clock and of all processes' CPU, medians; each in a process and a folder of its own.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3
MOST_SECONDS = 2.0  # for help and for a mistake in the configuration
RAY = """
from mia_audit.cluster import Cluster
from mia_audit.nodes import connect, disconnect
connect(Cluster(num_cpus=2))
disconnect()
"""
MLFLOW = """
from mia_audit import tracking
tracking.prepare(tracking.Tracking(uri="sqlite:///mlflow.db", experiment="mia_audit"))
"""
TINY = [
    "dataset=german_credit", "model=logistic", "num_models=16", "num_records=200",
    "cluster.num_cpus=2",
]  # fmt: skip

COMMANDS = {
    "--help": (["-m", "jobs.audit", "--help"], MOST_SECONDS),
    "a mistake in the configuration": (["-m", "jobs.audit", "num_modles=8"], MOST_SECONDS),
    "Ray started and stopped": (["-c", RAY], None),
    "a new MLflow database": (["-c", MLFLOW], None),
    "an audit that trains next to nothing": (["-m", "jobs.audit", *TINY], None),
    "the same again": (["-m", "jobs.audit", *TINY], None),
}


def measure(arguments: list[str], folder: str) -> tuple[float, float]:
    """Wall and CPU seconds of `python …`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True)
    assert done.returncode in (0, 2), done.stderr.decode()
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Exit status 0 when the limits are kept."""
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            for name, (arguments, _) in COMMANDS.items():
                rounds[name].append(measure(arguments, folder))
    kept = True
    for name, (_, most) in COMMANDS.items():
        wall, cpu = (statistics.median(values) for values in zip(*rounds[name], strict=True))
        kept &= most is None or wall <= most
        limit = "" if most is None else f"   limit {most:g} s"
        print(f"{name:<38} {wall:6.2f} s {cpu:6.2f} s of CPU{limit}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
