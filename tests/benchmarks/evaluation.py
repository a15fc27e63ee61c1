"""Cost of one whole evaluation, and of a convergence curve, in one thread.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.evaluation

Each size runs in a process of its own, so that its peak memory is its own. CPU seconds, since the
machine may be busy.
"""

import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from mia_audit.stats.convergence import convergence
from mia_audit.stats.evaluation import evaluate
from tests.benchmarks.scoring import synthetic

SIZES = ((128, 4_000, 2.0, 2_000), (1_024, 10_000, 30.0, 2_000))


def measure(num_models: int, num_records: int) -> None:
    """Print CPU seconds of both jobs and the peak memory in MB."""
    scores, members = synthetic(num_models, num_records)
    seconds = []
    for job in (evaluate, convergence):
        start = time.process_time()
        job(scores, members)
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(*seconds, peak)


def main() -> int:
    """Exit status 0 when every limit is kept."""
    kept = True
    for num_models, num_records, most_seconds, most_mb in SIZES:
        command = [sys.executable, "-m", "tests.benchmarks.evaluation"]
        found = subprocess.run(
            [*command, str(num_models), str(num_records)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        seconds, curve, peak = map(float, found.stdout.split())
        kept &= seconds <= most_seconds and peak <= most_mb
        print(
            f"{num_models:5d} × {num_records:6d}: evaluate {seconds:5.1f} s (limit "
            f"{most_seconds:g} s), convergence {curve:5.1f} s, peak {peak:5.0f} MB (limit "
            f"{most_mb} MB)"
        )
    return 0 if kept else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(int(sys.argv[1]), int(sys.argv[2]))
    else:
        sys.exit(main())
