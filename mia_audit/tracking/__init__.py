"""Audits as MLflow runs: the only part of the package that imports mlflow, inside functions.

The driver alone talks to MLflow, once an audit: `prepare` before any training, `log_run` after it.
"""

from mia_audit.tracking.address import Tracking, TrackingError, mask_passwords
from mia_audit.tracking.history import adopt, download, search
from mia_audit.tracking.live import LiveRun, end_left_over
from mia_audit.tracking.provenance import environment, git_sha
from mia_audit.tracking.run import DatasetInput, RunLink, log_run
from mia_audit.tracking.setup import Ready, check, prepare
from mia_audit.tracking.tables import read_table, table_json

__all__ = [
    "DatasetInput",
    "LiveRun",
    "Ready",
    "RunLink",
    "Tracking",
    "TrackingError",
    "adopt",
    "check",
    "download",
    "end_left_over",
    "environment",
    "git_sha",
    "log_run",
    "mask_passwords",
    "prepare",
    "read_table",
    "search",
    "table_json",
]
