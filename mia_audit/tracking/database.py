"""A fresh sqlite file for MLflow, by MLflow's own migrations but without waiting for the disk.

The file is built under another name, flushed once and linked into place whole, so that nobody ever
sees one half migrated, and of two machines building at once the second changes nothing.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mia_audit.tracking.address import Tracking
from mia_audit.tracking.client import open_client

if TYPE_CHECKING:
    from sqlalchemy import Connection


def create_database(path: Path) -> None:
    """Create MLflow's database at `path`, in MLflow's current schema. Not a safe call for two
    threads at once: hold a lock.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        fresh = Path(folder) / "fresh.db"
        with _unsynchronised(fresh):
            open_client(Tracking(uri=f"sqlite:///{fresh}")).search_experiments(max_results=1)
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        _place(fresh, path)


def _place(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            fresh.rename(path)


@contextmanager
def _unsynchronised(path: Path) -> Iterator[None]:
    """Connections to this one file do not wait for the disk; all are closed at the end.

    MLflow makes its engine itself, so the listeners are on the class and look at the file's name.
    """
    from sqlalchemy import Engine, event

    engines: set[Engine] = set()

    def relax(connection: Any, _record: object) -> None:
        files = [row[2] for row in connection.execute("PRAGMA database_list").fetchall()]
        if str(path) in files:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = MEMORY")

    def remember(connection: "Connection") -> None:
        if connection.engine.url.database == str(path):
            engines.add(connection.engine)

    listeners = (("connect", relax), ("engine_connect", remember))
    for name, listener in listeners:
        event.listen(Engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners:
            event.remove(Engine, name, listener)
        for engine in engines:
            engine.dispose()
