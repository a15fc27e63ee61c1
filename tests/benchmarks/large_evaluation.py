"""The table of a large sweep from its store: time and peak memory, on all cores.

    python -m tests.benchmarks.large_evaluation [--audit]

The store is filled by a process of its own, and read and judged by another, so that its peak is
its own. `--audit` measures all that an audit computes, with the curve over numbers of models, the
selection at every target and the measured ε.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time

from mia_audit.attacks import LiRA
from mia_audit.audit import AuditSettings, audit
from mia_audit.stats.evaluation import evaluate
from mia_audit.store import Store
from tests.benchmarks.store_sizes import fill, make_plan

MOST_SECONDS, MOST_MB = 180.0, 4_000.0
MODELS_PER_SHARD = 32


def judge(options: argparse.Namespace) -> None:
    """Load, judge, print what it took."""
    plan = make_plan(options.models, options.records)
    began, cpu = time.perf_counter(), time.process_time()
    matrix = Store(options.store).load(plan)
    loaded = time.perf_counter() - began
    if options.audit:
        audit(matrix, AuditSettings(LiRA()))
    else:
        evaluate(matrix.scores, matrix.members)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(loaded, seconds, cpu, peak)


def main() -> int:
    """Exit status 0 when both limits are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=4_096)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--store", help="used by the process that judges")
    options = parser.parse_args()
    if options.store:
        judge(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--models", str(options.models), "--records", str(options.records)]
        again = [sys.executable, "-m", "tests.benchmarks.large_evaluation", *arguments]
        fill(Store(folder), make_plan(options.models, options.records), MODELS_PER_SHARD)
        command = [*again, "--store", folder, *(["--audit"] if options.audit else [])]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded, seconds, cpu, peak = map(float, found.stdout.split())
    job = "whole audit" if options.audit else "evaluation"
    print(
        f"{options.models:,} × {options.records:,}, {job}: {seconds:.0f} s (limit "
        f"{MOST_SECONDS:g} s), {loaded:.1f} s of it to read the store; {cpu:.0f} s of CPU, peak "
        f"{peak:,.0f} MB (limit {MOST_MB:,.0f} MB)"
    )
    return 0 if seconds <= MOST_SECONDS and peak <= MOST_MB else 1


if __name__ == "__main__":
    sys.exit(main())
