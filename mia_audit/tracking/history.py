"""Runs logged before: found by a query, read back, grouped under a parent."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mia_audit.tracking.address import Tracking
from mia_audit.tracking.client import open_client
from mia_audit.tracking.setup import prepare

if TYPE_CHECKING:
    from mlflow.entities import Run


def search(
    tracking: Tracking, query: str = "", *, experiment: str | None = None
) -> list[dict[str, object]]:
    """Runs that match an MLflow query such as `tags.kind = 'audit'`, newest first.

    Each is a dict of run_id, name, status, started (UTC), params, metrics and tags. `experiment`
    defaults to the configured one; an unknown one has no runs. Raises ValueError for a query MLflow
    cannot parse.
    """
    from_mlflow = _exceptions(tracking)
    client = open_client(tracking)
    found = client.get_experiment_by_name(experiment or tracking.experiment)
    if found is None:
        return []
    runs: list[Run] = []
    token: str | None = None
    while True:
        try:
            page = client.search_runs([found.experiment_id], filter_string=query, page_token=token)
        except from_mlflow as error:
            raise ValueError(f"the query {query!r} is not one MLflow can run: {error}") from error
        runs += page
        token = page.token
        if not token:
            return [_plain(run) for run in runs]


def download(tracking: Tracking, run_id: str, path: str, dst: Path | str) -> Path:
    """Copy the artifact `path` of a run into the folder `dst` and return where it lies there.

    Raises ValueError when there is no such run or artifact.
    """
    from_mlflow = _exceptions(tracking)
    Path(dst).mkdir(parents=True, exist_ok=True)
    try:
        return Path(open_client(tracking).download_artifacts(run_id, path, str(dst)))
    except (from_mlflow, OSError) as error:
        raise ValueError(
            f"run {run_id} at tracking.uri={tracking.shown} has no artifact {path}: give the id of "
            "a run that finished."
        ) from error


def adopt(tracking: Tracking, parent_run_id: str, run_ids: Iterable[str]) -> None:
    """Show the runs as children of the parent on MLflow's page."""
    client = open_client(tracking)
    for run_id in run_ids:
        client.set_tag(run_id, "mlflow.parentRunId", parent_run_id)


def _exceptions(tracking: Tracking) -> type[Exception]:
    """MLflow's exception type, once the address is known to answer."""
    prepare(tracking)
    from mlflow.exceptions import MlflowException

    return MlflowException


def _plain(run: "Run") -> dict[str, object]:
    return {
        "run_id": run.info.run_id,
        "name": run.info.run_name,
        "status": run.info.status,
        "started": datetime.fromtimestamp(run.info.start_time / 1000, UTC),
        "params": dict(run.data.params),
        "metrics": dict(run.data.metrics),
        "tags": dict(run.data.tags),
    }
