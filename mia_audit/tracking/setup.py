"""Make the tracking address ready before training, so that a wrong one costs no work."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mia_audit.tracking.address import Tracking, check_uri, is_server, mask_passwords, sqlite_path
from mia_audit.tracking.client import open_client, silence
from mia_audit.tracking.database import create_database

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

_PATIENCE = 5.0  # seconds a server is given to answer

# Versions of MLflow's page without a switch for it open on the table of runs because of this tag,
# not on the traces of language models.
_EXPERIMENT_TAGS = {"mlflow.experimentKind": "custom_model_development"}


@dataclass(frozen=True)
class Ready:
    """A tracking address that answers: the experiment exists and takes runs."""

    experiment_id: str
    artifact_location: str


def prepare(tracking: Tracking) -> Ready:
    """Check the address, create a missing sqlite file and the experiment. Safe in a thread.

    Two drivers may prepare one fresh file at once. The first call of a process imports mlflow.
    Raises ValueError, naming the key and the remedy, when runs cannot be kept there.
    """
    check(tracking)
    if is_server(tracking.uri):
        return _ready(tracking, location=None)
    path = sqlite_path(tracking.uri)
    with _locked(path):
        if not path.exists():
            create_database(path)
        return _ready(tracking, location=(path.parent / "mlruns").as_uri())


def check(tracking: Tracking) -> None:
    """The part of `prepare` that needs no mlflow: is the address sound, and does it answer?

    Raises ValueError, naming the key and the remedy.
    """
    check_uri(tracking)
    if is_server(tracking.uri):
        _check_server(tracking)
    else:
        _check_file(tracking, sqlite_path(tracking.uri))


def _ready(tracking: Tracking, *, location: str | None) -> Ready:
    silence()
    from mlflow.exceptions import MlflowException

    try:
        client = open_client(tracking)
        experiment = _find_or_create(client, tracking.experiment, location)
    except MlflowException as error:
        raise ValueError(_explain(tracking, str(error))) from error
    _check_experiment(tracking, experiment)
    return Ready(experiment.experiment_id, experiment.artifact_location)


def _find_or_create(client: "MlflowClient", name: str, location: str | None) -> "Experiment":
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            client.create_experiment(name, artifact_location=location, tags=_EXPERIMENT_TAGS)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":  # another driver was quicker
                raise
        experiment = client.get_experiment_by_name(name)
    assert experiment is not None
    return experiment


def _check_experiment(tracking: Tracking, experiment: "Experiment") -> None:
    if experiment.lifecycle_stage != "active":
        raise ValueError(
            f"tracking.experiment={tracking.experiment} was deleted in MLflow: restore it there, "
            "or choose another name."
        )
    if not is_server(tracking.uri) and experiment.artifact_location.startswith("mlflow-artifacts:"):
        raise ValueError(
            f"tracking.experiment={tracking.experiment} keeps its files on an MLflow server: give "
            "that server's http:// address as tracking.uri, or choose another experiment."
        )


def _explain(tracking: Tracking, reason: str) -> str:
    first_line = mask_passwords(reason).splitlines()[0]
    if "out-of-date database schema" in reason:
        return (
            f"tracking.uri={tracking.shown} was written by another version of MLflow: keep a copy "
            f"and run 'mlflow db upgrade {tracking.shown}', or choose another file."
        )
    return f"tracking.uri={tracking.shown} was reached but refused: {first_line}"


def _check_server(tracking: Tracking) -> None:
    import requests

    try:
        answer = requests.get(f"{tracking.uri.rstrip('/')}/health", timeout=_PATIENCE)
        reason = f"status {answer.status_code}" if answer.status_code >= 500 else ""
    except requests.RequestException as error:
        reason = type(error).__name__
    if reason:
        raise ValueError(
            f"tracking.uri={tracking.shown} does not answer ({reason}): start the server "
            "(mlflow server), correct the address, or use tracking.uri=sqlite:///mlflow.db."
        )


def _check_file(tracking: Tracking, path: Path) -> None:
    """Probe by opening, not by permission bits, which mean nothing to root or on some mounts."""
    try:
        if not path.exists():
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-"):
                return
        with path.open("r+b") as file:
            if file.read(16) in (b"", b"SQLite format 3\0"):
                return
        reason = "it is not an SQLite file"
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
    except ValueError:  # a zero byte
        reason = "no file can have this name"
    raise ValueError(
        f"tracking.uri={tracking.shown} cannot be written ({path}: {reason}): create the directory "
        "or give the path of a file in one you can write to."
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock file is in the temporary directory, not the user's."""
    from filelock import FileLock

    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir()) / f"mia_audit-{os.getuid()}-{digest}.lock"):
        yield
