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
            raise ValueError(
                f"tracking.uri={tracking.shown} names no host: write http://host:5000."
            )
        return
    if not uri.startswith("sqlite:///") or uri in ("sqlite:///", "sqlite:///:memory:"):
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


def page_url(tracking: Tracking, experiment_id: str, run_id: str) -> str:
    """The page of a run, on the server or on the local one that `serve_command` starts."""
    root = client_uri(tracking.shown) if is_server(tracking.uri) else "http://127.0.0.1:5000"
    return f"{root}/#/experiments/{experiment_id}/runs/{run_id}"


def serve_command(tracking: Tracking) -> str:
    """The command that serves a tracking file; "" for an address that is a server already."""
    if is_server(tracking.uri):
        return ""
    return f"mlflow ui --backend-store-uri {shlex.quote(tracking.uri)}"
