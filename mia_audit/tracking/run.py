"""One audit as one MLflow run: created, filled in batches and closed in one pass."""

import getpass
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mia_audit.tracking.address import (
    Tracking,
    TrackingError,
    mask_passwords,
    page_url,
    serve_command,
)
from mia_audit.tracking.artifacts import log_arrays, log_files
from mia_audit.tracking.client import open_client
from mia_audit.tracking.provenance import git_dirty, git_sha
from mia_audit.tracking.setup import prepare
from mia_audit.tracking.tables import Row
from mia_audit.tracking.values import TAG_LENGTH, flat_params, points, shorten, text

if TYPE_CHECKING:
    from mlflow import MlflowClient

_METRICS_A_BATCH = 1000
_PARAMS_A_BATCH = 100
_DIGEST_LENGTH = 16  # MLflow takes 36, its table shows 16; the whole one is a tag of the dataset


@dataclass(frozen=True)
class RunLink:
    """A logged run: its ids, its page, and for a file the command to start before opening it."""

    run_id: str
    experiment_id: str
    url: str
    command: str


@dataclass(frozen=True)
class DatasetInput:
    """The data of a run as MLflow lists it: name, digest, a short profile, where it came from."""

    name: str
    digest: str
    profile: dict[str, object] = field(default_factory=dict)
    source: str = ""


def log_run(
    tracking: Tracking,
    *,
    name: str,
    params: Mapping[str, object],
    metrics: Mapping[str, float],
    step_metrics: Mapping[str, Sequence[float]] | None = None,
    tags: Mapping[str, str] | None = None,
    tables: Mapping[str, Sequence[Row]] | None = None,
    files: Mapping[str, Path | bytes | str] | None = None,
    arrays: Mapping[str, np.ndarray] | None = None,
    dataset: DatasetInput | None = None,
    store_url: str = "",
    parent_run_id: str | None = None,
    started: float | None = None,
    run_id: str = "",
) -> RunLink:
    """Log one finished run and return where to see it.

    params may be nested; step_metrics hold a value a model; tables (rows as dicts) are keyed by
    their `.json` artifact path, files by artifact path (a str is the text itself), arrays by their
    `.npy` path. The tag `mlflow.note.content` is the description on the run's page; `started`
    (seconds, `time.time()`) makes MLflow's duration that of the audit. Non-finite metrics are left
    out. Raises ValueError for a metric name MLflow refuses, TrackingError when
    MLflow fails, after marking the run FAILED. `run_id` is that of a `LiveRun` to be finished.
    """
    tables = tables or {}
    found = points(metrics, step_metrics or {})
    labels = {**_given_tags(tables, parent_run_id), **(tags or {})}
    with _open_run(tracking, name, labels, started, run_id) as (client, link):
        _log_values(client, link.run_id, found, flat_params(params))
        if dataset is not None:
            _log_dataset(client, link.run_id, dataset)
        log_files(client, link.run_id, tables=tables, files=files or {})
        limit = tracking.max_scores_mb
        log_arrays(client, link.run_id, arrays or {}, max_mb=limit, store_url=store_url)
    return link


@contextmanager
def _open_run(
    tracking: Tracking, name: str, tags: Mapping[str, str], started: float | None, run_id: str
) -> Iterator[tuple["MlflowClient", RunLink]]:
    """A run, new or that of the id, which ends FINISHED, KILLED or FAILED: none is left running."""
    client = None
    try:
        ready = prepare(tracking)
        client = open_client(tracking)
        texts = {key: shorten(text(value), TAG_LENGTH) for key, value in tags.items()}
        if run_id:
            for key, value in texts.items():
                client.set_tag(run_id, key, value)
        else:
            begun = int(1000 * (started or time.time()))
            run = client.create_run(ready.experiment_id, begun, tags=texts, run_name=name)
            run_id = run.info.run_id
        url = page_url(tracking, ready.experiment_id, run_id)
        yield client, RunLink(run_id, ready.experiment_id, url, serve_command(tracking))
        client.set_terminated(run_id, "FINISHED")
    except BaseException as error:
        failed = isinstance(error, Exception)
        if client is not None and run_id:
            with suppress(Exception):
                client.set_terminated(run_id, "FAILED" if failed else "KILLED")
        if not failed:
            raise
        raise TrackingError(_lost_run(tracking, error)) from error


def _lost_run(tracking: Tracking, error: BaseException) -> str:
    reason = (mask_passwords(str(error)).splitlines() or [type(error).__name__])[0]
    return (
        f"the run could not be logged to tracking.uri={tracking.shown}: {reason.rstrip('.')}. "
        "The scores are safe in the store: run the same command again to log it without training."
    )


def _given_tags(tables: Mapping[str, object], parent_run_id: str | None) -> dict[str, str]:
    sha = git_sha()
    tags = {
        "git_sha": sha,
        "mlflow.source.name": Path(sys.argv[0]).name,
        "mlflow.source.type": "LOCAL",
    }
    with suppress(OSError, KeyError, ImportError):  # no user name in some containers
        tags["mlflow.user"] = getpass.getuser()
    if sha:
        tags["mlflow.source.git.commit"] = sha
        tags["mlflow.source.git.dirty"] = str(git_dirty())
    if tables:  # without this tag the page shows the JSON text instead of a table
        listed = [{"path": path, "type": "table"} for path in tables]
        tags["mlflow.loggedArtifacts"] = json.dumps(listed)
    if parent_run_id is not None:
        tags["mlflow.parentRunId"] = parent_run_id
    return tags


def _log_values(
    client: "MlflowClient",
    run_id: str,
    found: Sequence[tuple[str, float, int]],
    params: Mapping[str, str],
) -> None:
    from mlflow.entities import Metric, Param

    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, step) for name, value, step in found]
    settings = [Param(name, value) for name, value in params.items()]
    for start in range(0, len(settings), _PARAMS_A_BATCH):
        client.log_batch(run_id, params=settings[start : start + _PARAMS_A_BATCH])
    for start in range(0, len(metrics), _METRICS_A_BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _METRICS_A_BATCH])


def _log_dataset(client: "MlflowClient", run_id: str, dataset: DatasetInput) -> None:
    from mlflow import entities

    entity = entities.Dataset(
        name=dataset.name,
        digest=dataset.digest[:_DIGEST_LENGTH],
        source_type="code",
        source=json.dumps({"tags": {"mlflow.source.name": mask_passwords(dataset.source)}}),
        profile=json.dumps(dataset.profile),
    )
    labels = [
        entities.InputTag("mlflow.data.context", "audit"),
        entities.InputTag("digest", dataset.digest),
    ]
    client.log_inputs(run_id, datasets=[entities.DatasetInput(entity, labels)])
