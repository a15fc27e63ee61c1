"""Where runs are kept: the config noun, and what its URI says before MLflow is imported."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_PASSWORD = re.compile(r"(\w://[^\s/:@]*):[^\s/@]+@")


@dataclass
class Tracking:
    """The `tracking` part of the config.

    uri is `sqlite:///file.db` (relative to the working directory) or the `http(s)://` address of an
    MLflow server. Arrays larger than max_scores_mb (MiB) are logged as a pointer to the store.
    """

    uri: str = "sqlite:///mlflow.db"
    experiment: str = "mia_audit"
    max_scores_mb: int = 512

    @property
    def shown(self) -> str:
        """The URI as it may be printed: any password masked."""
        return mask_passwords(self.uri)


class TrackingError(RuntimeError):
    """MLflow failed after the scores were made. Nothing is lost: they are in the store."""


def mask_passwords(text: str) -> str:
    """Text with the password of every URI in it replaced by `***`."""
    return _PASSWORD.sub(r"\1:***@", text)


def check_uri(tracking: Tracking) -> None:
    """Raise ValueError when the URI is of a kind runs cannot be kept in."""
    uri = tracking.uri
    if is_server(uri):
        if not urlsplit(uri).hostname:
            raise ValueError(f"tracking.uri={tracking.shown} names no host: write http://host:5000.")
        return
    if not uri.startswith("sqlite:///") or sqlite_path(uri).name in ("", ":memory:"):
        raise ValueError(
            f"tracking.uri={tracking.shown} is not an address runs can be kept at: write "
            "sqlite:///mlflow.db for a file, or http://host:5000 for an MLflow server."
        )


def is_server(uri: str) -> bool:
    """True for the address of an MLflow server, False for a file."""
    return uri.startswith(("http://", "https://"))


def sqlite_path(uri: str) -> Path:
    """Absolute path of the file of a `sqlite:///` URI."""
    path = unquote(uri.removeprefix("sqlite:///").partition("?")[0])
    return Path.cwd() / path


def client_uri(uri: str) -> str:
    """The URI handed to MLflow: absolute, so that a later change of directory changes nothing."""
    if is_server(uri):
        return uri.rstrip("/")
    query = uri.partition("?")[2]
    return f"sqlite:///{sqlite_path(uri)}" + (f"?{query}" if query else "")


def open_with(tracking: Tracking, experiment_id: str, run_id: str) -> str:
    """What a user opens a run with: its web address, or the command that serves the file."""
    if is_server(tracking.uri):
        root = mask_passwords(client_uri(tracking.uri))
        return f"{root}/#/experiments/{experiment_id}/runs/{run_id}"
    return f"mlflow ui --backend-store-uri {shlex.quote(tracking.uri)}"
