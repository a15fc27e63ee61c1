"""Tracking against real MLflow: sqlite files, a server process, two drivers at once."""

import io
import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mia_audit.tracking import (
    DatasetInput,
    RunLink,
    Tracking,
    TrackingError,
    adopt,
    download,
    log_run,
    prepare,
    read_table,
    search,
)

pytestmark = pytest.mark.integration

SCORES = np.arange(12, dtype=np.float32).reshape(3, 4)
POINTS = [
    {"method": "naive", "alpha": 0.01, "tpr": 0.0421, "upper": float("nan")},
    {"method": "attack", "alpha": 0.01, "tpr": 0.05, "upper": 0.06},
]


def log(tracking: Tracking, **changes: Any) -> RunLink:
    """A run with some of everything, logged with the given changes."""
    settings: dict[str, Any] = {
        "name": "none mlp adult",
        "params": {"num_models": 128, "model": {"hidden": [64, 64]}, "seed": 0},
        "metrics": {"auc": 0.61, "tpr_at_fpr/0.01": 0.042, "epsilon": float("inf")},
        "step_metrics": {"per_model/test_accuracy": np.linspace(0.8, 0.9, 1500)},
        "tags": {"kind": "audit", "defence": "none"},
        "tables": {"operating_points.json": POINTS},
        "files": {
            "config.yaml": "uri: http://ann:s3cret@host\n",
            "figures/roc.png": b"\x89PNG",
        },
        "arrays": {"scores/scores.npy": SCORES, "scores/members.npy": SCORES > 5},
        "dataset": DatasetInput("adult", "ab" * 32, {"num_records": 4}, "bundled"),
    }
    return log_run(tracking, **(settings | changes))


def client(tracking: Tracking) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=tracking.uri)


def artifacts(tracking: Tracking, run_id: str) -> set[str]:
    found = set()
    folders = [""]
    while folders:
        for entry in client(tracking).list_artifacts(run_id, folders.pop()):
            folders += [entry.path] if entry.is_dir else []
            found |= set() if entry.is_dir else {entry.path}
    return found


@pytest.fixture(params=["file", "server"])
def tracking(request: pytest.FixtureRequest) -> Tracking:
    """Both kinds of address, each with an experiment of the test's own."""
    name = {"file": "tracking_uri", "server": "mlflow_server"}[request.param]
    return Tracking(uri=request.getfixturevalue(name), experiment=request.node.name)


def test_what_is_written_is_read_back(tracking: Tracking, tmp_path: Path) -> None:
    link = log(tracking, store_url="store", started=time.time() - 60)
    run = client(tracking).get_run(link.run_id)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "none mlp adult"
    assert 60_000 <= run.info.end_time - run.info.start_time < 120_000
    assert run.data.params == {"num_models": "128", "model.hidden": "[64, 64]", "seed": "0"}
    assert run.data.metrics == {
        "auc": 0.61,
        "tpr_at_fpr/0.01": 0.042,
        "per_model/test_accuracy": 0.9,
    }
    history = client(tracking).get_metric_history(link.run_id, "per_model/test_accuracy")
    np.testing.assert_array_equal(
        [point.value for point in sorted(history, key=lambda point: point.step)],
        np.linspace(0.8, 0.9, 1500),
    )
    assert run.data.tags["kind"] == "audit"
    assert artifacts(tracking, link.run_id) == {
        "operating_points.json", "config.yaml", "figures/roc.png",
        "scores/scores.npy", "scores/members.npy",
    }  # fmt: skip
    back = np.load(download(tracking, link.run_id, "scores/scores.npy", tmp_path))
    np.testing.assert_array_equal(back, SCORES)
    assert back.dtype == np.float32
    table = read_table(download(tracking, link.run_id, "operating_points.json", tmp_path))
    assert table == [POINTS[0] | {"upper": None}, POINTS[1]]
    config = download(tracking, link.run_id, "config.yaml", tmp_path).read_text()
    assert config == "uri: http://ann:***@host\n"


def test_the_page_is_told_which_artifacts_are_tables(tracking: Tracking) -> None:
    run = client(tracking).get_run(log(tracking).run_id)
    listed = json.loads(run.data.tags["mlflow.loggedArtifacts"])
    assert listed == [{"path": "operating_points.json", "type": "table"}]


def test_tables_are_those_mlflow_reads(tracking: Tracking) -> None:
    import mlflow

    link = log(tracking)
    mlflow.set_tracking_uri(tracking.uri)  # load_table looks there, whatever its client
    try:
        frame = client(tracking).load_table(link.experiment_id, "operating_points.json")
    finally:
        mlflow.set_tracking_uri(None)
    assert frame["method"].tolist() == ["naive", "attack"]
    assert frame["tpr"].tolist() == pytest.approx([0.0421, 0.05])


def test_the_data_is_an_input_of_the_run(tracking: Tracking) -> None:
    (entry,) = client(tracking).get_run(log(tracking).run_id).inputs.dataset_inputs
    assert (entry.dataset.name, entry.dataset.digest) == ("adult", "ab" * 8)
    assert {tag.key: tag.value for tag in entry.tags}["digest"] == "ab" * 32
    assert json.loads(entry.dataset.profile) == {"num_records": 4}


def test_a_large_array_is_a_pointer_to_the_store(tracking: Tracking, tmp_path: Path) -> None:
    tracking.max_scores_mb = 1
    large = np.zeros((2**18 + 1,), np.float32)
    arrays = {"scores/scores.npy": large, "scores/members.npy": large[:-1]}
    link = log(tracking, arrays=arrays, store_url="s3://key:pw@bucket/0123")
    found = artifacts(tracking, link.run_id)
    assert {"scores/scores.json", "scores/members.npy"} <= found
    assert "scores/scores.npy" not in found
    pointer = json.loads(
        download(tracking, link.run_id, "scores/scores.json", tmp_path).read_text()
    )
    assert pointer["store"] == "s3://key:***@bucket/0123"
    assert pointer["shape"] == [2**18 + 1]


def test_children_stand_under_their_parent(tracking: Tracking) -> None:
    parent = log(tracking, tags={"kind": "compare"})
    born = log(tracking, parent_run_id=parent.run_id)
    adopted = log(tracking)
    adopt(tracking, parent.run_id, [adopted.run_id])
    children = search(tracking, f"tags.mlflow.parentRunId = '{parent.run_id}'")
    assert {run["run_id"] for run in children} == {born.run_id, adopted.run_id}


def test_search_finds_by_tag_newest_first(tracking: Tracking) -> None:
    first = log(tracking, tags={"kind": "audit", "store_key": "k1"}, started=time.time() - 100)
    second = log(tracking, tags={"kind": "audit", "store_key": "k1"})
    log(tracking, tags={"kind": "audit", "store_key": "k2"})
    found = search(tracking, "tags.store_key = 'k1' and attributes.status = 'FINISHED'")
    assert [run["run_id"] for run in found] == [second.run_id, first.run_id]
    assert found[0]["metrics"]["auc"] == 0.61
    assert found[0]["params"]["num_models"] == "128"
    assert search(tracking, experiment="unheard of") == []
    with pytest.raises(ValueError, match="query"):
        search(tracking, "this is no query")


def test_a_missing_artifact_is_named(tracking: Tracking, tmp_path: Path) -> None:
    link = log(tracking)
    with pytest.raises(ValueError, match=r"no artifact nothing\.json"):
        download(tracking, link.run_id, "nothing.json", tmp_path)
    with pytest.raises(ValueError, match=r"no artifact config\.yaml"):
        download(tracking, "0" * 32, "config.yaml", tmp_path)


def test_a_fault_midway_leaves_the_run_failed(tracking: Tracking, tmp_path: Path) -> None:
    missing = {"report.html": tmp_path / "is not there"}
    with pytest.raises(TrackingError, match="safe in the store: run the same command again"):
        log(tracking, files=missing)
    (run,) = search(tracking)
    assert run["status"] == "FAILED"
    assert run["metrics"]["auc"] == 0.61


def test_an_interrupt_leaves_the_run_killed(
    tracking: Tracking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mia_audit.tracking.run.log_files", interrupt)
    with pytest.raises(KeyboardInterrupt):
        log(tracking)
    (run,) = search(tracking)
    assert run["status"] == "KILLED"


def test_more_than_one_batch_of_everything(tracking: Tracking) -> None:
    params = {f"p{i}": i for i in range(250)}
    metrics = {f"m/{i}": float(i) for i in range(2100)}
    run = client(tracking).get_run(log(tracking, params=params, metrics=metrics).run_id)
    assert len(run.data.params) == 250
    assert len(run.data.metrics) == 2101


def test_a_deleted_experiment_is_named(tracking: Tracking) -> None:
    client(tracking).delete_experiment(prepare(tracking).experiment_id)
    with pytest.raises(ValueError, match=r"tracking\.experiment=.* was deleted"):
        prepare(tracking)


def test_artifacts_of_a_file_lie_beside_it(tracking_uri: str, tmp_path: Path) -> None:
    link = log(Tracking(uri=tracking_uri))
    assert (tmp_path / "mlruns" / link.run_id / "artifacts/scores/scores.npy").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"mlflow.db", "mlruns"}


def test_artifacts_of_a_server_lie_in_its_own_store(
    mlflow_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tracking = Tracking(uri=mlflow_server, experiment="own store")
    link = log(tracking)
    assert client(tracking).get_run(link.run_id).info.artifact_uri.startswith("mlflow-artifacts:")
    assert link.url == f"{mlflow_server}/#/experiments/{link.experiment_id}/runs/{link.run_id}"
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_of_a_server_is_not_written_from_a_file(tracking_uri: str) -> None:
    tracking = Tracking(uri=tracking_uri)
    client(tracking).create_experiment("mia_audit", artifact_location="mlflow-artifacts:/1")
    with pytest.raises(ValueError, match="give that server's http:// address"):
        prepare(tracking)


FIRST_DRIVER = """
import sys
from mia_audit.tracking import Tracking, log_run, prepare
tracking = Tracking(uri=sys.argv[1])
prepare(tracking)
print(log_run(tracking, name="x", params={}, metrics={"auc": 0.5}).run_id)
"""


def test_two_first_drivers_share_one_fresh_file_in_silence(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, größer"
    folder.mkdir()
    uri = f"sqlite:///{folder}/runs.db"
    command = [sys.executable, "-c", FIRST_DRIVER, uri]
    pipe = subprocess.PIPE
    drivers = [subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    answers = [driver.communicate(timeout=120) for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], answers
    assert [error for _, error in answers] == ["", ""]
    found = {run["run_id"] for run in search(Tracking(uri=uri))}
    assert found == {out.strip() for out, _ in answers}
    assert {path.name for path in folder.iterdir()} == {"runs.db", "mlruns"}


def test_two_threads_share_one_fresh_file(tmp_path: Path) -> None:
    tracking = Tracking(uri=f"sqlite:///{tmp_path}/mlflow.db")
    ready: list[object] = []
    threads = [threading.Thread(target=lambda: ready.append(prepare(tracking))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ready) == 3
    assert len(set(ready)) == 1


def test_the_fresh_file_is_what_mlflow_itself_makes(migrated_file: Path, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/plain.db").search_experiments()
    ours = schema_of(migrated_file)
    assert len(ours) > 50
    assert ours == schema_of(tmp_path / "plain.db")
    version = "select version_num from alembic_version"
    ours = sqlite3.connect(migrated_file).execute(version).fetchall()
    assert ours == sqlite3.connect(tmp_path / "plain.db").execute(version).fetchall()


def schema_of(path: Path) -> list[tuple[str, ...]]:
    """Every table and index; lines sorted, since alembic rebuilds tables with their constraints
    in the order of a set."""
    statement = "select type, name, tbl_name, sql from sqlite_master order by 1, 2"
    rows = sqlite3.connect(path).execute(statement).fetchall()
    lines = [sorted(part.strip(" ,") for part in (row[3] or "").splitlines()) for row in rows]
    return [(*row[:3], *parts) for row, parts in zip(rows, lines, strict=True)]


def test_a_file_of_another_version_is_refused(tracking_uri: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("update alembic_version set version_num = 'older'")
    with pytest.raises(ValueError, match="another version of MLflow: keep a copy"):
        prepare(Tracking(uri=tracking_uri))


def test_a_server_that_does_not_answer_is_named_quickly() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    import mlflow  # noqa: F401 (its import is not what is timed)

    start = time.monotonic()
    with pytest.raises(ValueError, match=r"tracking\.uri=http://ann:\*\*\*@.* does not answer"):
        prepare(Tracking(uri=f"http://ann:s3cret@127.0.0.1:{port}"))
    assert time.monotonic() - start < 8


@pytest.mark.parametrize("status", [401, 404])
def test_a_server_that_refuses_is_named(status: int) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else status)
            self.end_headers()
            self.wfile.write(b"no entry")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(ValueError, match=r"tracking\.uri=.* was reached but refused"):
            prepare(Tracking(uri=f"http://127.0.0.1:{server.server_port}"))
    finally:
        server.shutdown()


def test_logging_to_a_server_is_silent(
    mlflow_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log(Tracking(uri=mlflow_server, experiment="silent"))
    assert capfd.readouterr() == ("", "")


def test_a_server_lost_before_logging_is_a_tracking_error() -> None:
    with pytest.raises(TrackingError, match=r"does not answer.*safe in the store"):
        log(Tracking(uri="http://127.0.0.1:9"))


def test_the_page_shows_runs_and_tables(mlflow_server: str, chromium: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import figure

    picture = io.BytesIO()
    figure.Figure().savefig(picture, format="png")
    files = {"report.html": "<h1>Audit report</h1>", "figures/roc.png": picture.getvalue()}
    link = log(Tracking(uri=mlflow_server, experiment="page"), files=files)
    page = chromium.new_page(viewport={"width": 1600, "height": 1000})
    page.goto(f"{link.url}/artifacts")
    page.get_by_text("operating_points.json").first.click()
    page.get_by_text("View as table").wait_for()
    page.get_by_text("0.0421", exact=True).wait_for()
    assert page.get_by_text("method", exact=True).count() == 1
    page.get_by_text("report.html").first.click()
    page.frame_locator("iframe").get_by_text("Audit report").wait_for()
    page.close()
