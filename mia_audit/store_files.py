"""Writing one file whole or not at all, and clearing away what killed processes left."""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

_TEMPORARY = re.compile(r"\.tmp-(?P<host>.+)-(?P<pid>\d+)-[0-9a-f]{8}")
_DAY = 24 * 3600.0


def put_whole(files: AbstractFileSystem, path: str, content: bytes) -> None:
    """Write `content` so that no reader ever sees a part of it."""
    if isinstance(files, LocalFileSystem):
        _rename_into_place(Path(path), content)
        return
    try:
        files.pipe_file(path, content)
    except FileNotFoundError:  # object stores have no folders; others want them made
        files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        files.pipe_file(path, content)
    files.invalidate_cache(path)


def _rename_into_place(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    name = f".tmp-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = path.parent / name
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_stale(folder: str) -> None:
    """Remove temporary files of dead processes on this host, and any that are a day old."""
    if not os.path.isdir(folder):
        return
    for file in Path(folder).iterdir():
        match = _TEMPORARY.fullmatch(file.name)
        if match and (_is_dead(match["host"], int(match["pid"])) or _age(file) > _DAY):
            file.unlink(missing_ok=True)


def _is_dead(host: str, pid: int) -> bool:
    """Whether the process is known to have ended; of other hosts nothing is known."""
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0
