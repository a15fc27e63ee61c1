"""What several test files share: a migrated tracking file, an MLflow server, a browser."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

_BROWSER_PATHS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
_BROWSER_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it on a continuous-integration machine, which must have everything."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{what} is missing on a CI machine")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty MLflow database in the current schema, made once a session: copy it."""
    from mia_audit.tracking.database import create_database

    path = tmp_path_factory.mktemp("mlflow") / "migrated.db"
    create_database(path)
    return path


@pytest.fixture
def tracking_uri(migrated_file: Path, tmp_path: Path) -> str:
    """`sqlite:///` URI of a fresh tracking file of the test's own; its artifacts go to mlruns
    beside it.
    """
    path = tmp_path / "mlflow.db"
    shutil.copyfile(migrated_file, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def mlflow_server(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real MLflow server on loopback, with an artifact store of its own."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copyfile(migrated_file, folder / "server.db")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/server.db"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
    environment = {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    log = (folder / "log.txt").open("wb")
    server = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server, folder / "log.txt")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


def _wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    raise AssertionError(f"no answer from {url}: {log.read_text()}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium (playwright's Browser), kept off the network but for what tests open."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    path = next((path for path in _BROWSER_PATHS if Path(path).exists()), None)
    if path is None:
        missing("Chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(_BROWSER_ARGUMENTS))
        yield browser
        browser.close()
