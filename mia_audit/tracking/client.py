"""MLflow's client, quiet and off the network but for the tracking server itself."""

import logging
import os
from typing import TYPE_CHECKING

from mia_audit.tracking.address import Tracking, client_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient

_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # it would show passwords, too
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "5",  # about a minute of back-off, not MLflow's four
}


def open_client(tracking: Tracking) -> "MlflowClient":
    """A client of the tracking address. The first call imports mlflow (seconds)."""
    silence()
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=client_uri(tracking.uri))


def silence() -> None:
    """Turn off telemetry, progress bars and the log lines of mlflow and alembic.

    Errors reach the caller as exceptions, so that a log line would only say them twice.
    What the user has set in the environment stands.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "CRITICAL")
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
