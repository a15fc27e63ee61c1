"""Ray leaves the caller's signals alone, and nobody pays for Ray who does not train."""

import signal
import subprocess
import sys

from mia_audit.nodes import _own_signal_handlers


def test_signal_handlers_are_kept() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _own_signal_handlers():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) == before


def test_importing_the_sweep_imports_neither_ray_nor_torch() -> None:
    code = (
        "import sys, mia_audit.sweep; print(sorted({'ray', 'torch', 'mlflow'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
