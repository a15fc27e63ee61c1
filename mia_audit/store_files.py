"""The files of a store: each written whole or not at all, on a disk or on any fsspec remote.

A remote that does not answer is asked again for about a minute; whatever fails for good becomes a
`StoreError` with one sentence.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.asyn import AsyncFileSystem, sync
from fsspec.implementations.local import LocalFileSystem

from mia_audit.faults import StoreError
from mia_audit.interruption import is_termination
from mia_audit.masking import masked

_TEMPORARY = re.compile(r"\.tmp-(?P<host>.+)-(?P<pid>\d+)-[0-9a-f]{8}")
_DAY = 24 * 3600.0
_NEVER = datetime.fromtimestamp(0, UTC)
PATIENCE = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds between tries of a remote
_TO_ANSWER = 30.0  # seconds a remote is given to take a file, beside those of its transfer
_SLOWEST = 1e5  # bytes/s
_ATTEMPTS = "AWS_MAX_ATTEMPTS"  # of botocore, each of up to 15 s

T = TypeVar("T")


@dataclass(frozen=True)
class FileInfo:
    """One entry of a folder; `modified` by the clock of the file system."""

    name: str
    size: int
    modified: datetime
    is_folder: bool


class StoreFiles:
    """Files below `url`, a path or any fsspec URI; `label` is how messages call the store.

    Paths are relative to it, with slashes. Raises ValueError when the URI's protocol is unknown or
    its package not installed.
    """

    def __init__(self, url: str, label: str) -> None:
        expanded = url if "://" in url else os.path.abspath(os.path.expanduser(url))
        try:
            # An instance of our own: its tries are set below.
            self._system, root = fsspec.core.url_to_fs(expanded, skip_instance_cache=True)
        except Exception as error:  # an unknown kind, a missing package, or an archive that is none
            raise ValueError(
                f"store={label}: {masked(str(error)).rstrip('.')}; use a local folder, or "
                "install the package for this kind of address (mia_audit[s3] for s3://)."
            ) from error
        self.root = root.rstrip("/")
        self.is_local = isinstance(self._system, LocalFileSystem)
        self._label = label
        self._is_away = self._is_given_up = False
        # We try again ourselves, and say so. The client's own tries, nested, would be minutes of
        # silence before a server that takes connections and never answers.
        if not self.is_local:
            self._system.retries = 1
            os.environ.setdefault(_ATTEMPTS, "1")

    def path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def put(self, name: str, content: bytes) -> None:
        """Write a file so that no reader ever sees a part of it."""
        path = self.path(name)
        if self.is_local:
            self._patiently(f"{name} could not be written", _rename_into_place, Path(path), content)
        else:
            self._patiently(f"{name} could not be written", self._put_object, path, content)

    def get(self, name: str) -> bytes | None:
        """The content of a file, None when there is none."""
        try:
            content = self._patiently(
                f"{name} could not be read", self._system.cat_file, self.path(name)
            )
        except FileNotFoundError:
            return None
        assert isinstance(content, bytes)
        return content

    def names(self, folder: str) -> list[FileInfo]:
        """What is in a folder, sorted by name; empty when there is no such folder."""
        try:
            infos = self._patiently("it could not be listed", self._list, self.path(folder))
        except FileNotFoundError:
            return []
        found = [
            FileInfo(
                info["name"].rsplit("/", 1)[-1],
                info["size"] or 0,
                _modified(info),
                _is_folder(info),
            )
            for info in infos
        ]
        return sorted(found, key=lambda info: info.name)

    def remove(self, name: str, *, recursive: bool = False) -> None:
        """Remove a file or, if `recursive`, a folder; one that is gone already is no fault."""
        try:
            self._patiently(
                f"{name} could not be removed",
                lambda: self._system.rm(self.path(name), recursive=recursive),
            )
        except FileNotFoundError:
            return

    def remove_stale(self, folder: str) -> None:
        """Remove temporary files of dead processes on this host, and any that are a day old.

        Age is told by the file system's own clock, against a file written now: the clocks of hosts
        and file servers disagree. A date a day in the future is as stale as one in the past.
        """
        self._patiently(
            f"{folder or 'it'} could not be written", self._remove_stale, self.path(folder)
        )

    def probe(self) -> None:
        """Write and remove a small file where the store is or would be made; raises what fails.

        Where there is no folder yet, the nearest above it is tried: a probe must leave nothing
        behind, and not remove what another driver has just made.
        """
        folder = Path(self.root)
        while self.is_local and not folder.exists():
            folder = folder.parent
        self._remove_stale(str(folder) if self.is_local else self.root)

    def _remove_stale(self, folder: str) -> None:
        own = f"{folder}/{temporary_name()}"
        try:
            self._pipe(own, b"mia_audit")
            infos = {info["name"].rsplit("/", 1)[-1]: info for info in self._list(folder)}
            now = _modified(infos[own.rsplit("/", 1)[-1]])
            for name, info in infos.items():
                match = _TEMPORARY.fullmatch(name)
                if match and (_is_dead(match["host"], int(match["pid"])) or _aged(info, now)):
                    self._system.rm_file(f"{folder}/{name}")
        finally:
            if self._system.exists(own):
                self._system.rm_file(own)

    def _put_object(self, path: str, content: bytes) -> None:
        try:
            self._pipe(path, content)
        except FileNotFoundError:  # object stores have no folders; others want them made
            self._system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
            self._pipe(path, content)
        self._system.invalidate_cache(path)

    def _pipe(self, path: str, content: bytes) -> None:
        """Write an object; raises TimeoutError. Of S3's client a write alone has no time limit: it
        waits for ever to be told to send the content."""
        if not isinstance(self._system, AsyncFileSystem):
            self._system.pipe_file(path, content)
            return
        limit = _TO_ANSWER + len(content) / _SLOWEST
        sync(self._system.loop, self._system._pipe_file, path, content, timeout=limit)

    def _list(self, folder: str) -> list[dict[str, Any]]:
        self._system.invalidate_cache(folder)
        return list(self._system.ls(folder, detail=True))

    def _patiently(self, failed: str, work: Callable[..., T], *arguments: Any) -> T:
        """Do `work`, again and again on a remote that is away; raises StoreError in the end.

        A remote that was given up is tried once, until it answers: reads that were under way
        together do not wait one after another.
        """
        waits = iter(() if self.is_local or self._is_given_up else PATIENCE)
        until = 0.0  # tries can be long themselves
        while True:
            try:
                done = work(*arguments)
                self._answered()
                return done
            except FileNotFoundError:
                self._answered()
                raise
            except Exception as error:  # every kind of remote has its own exceptions
                until = until or time.monotonic() + sum(PATIENCE)
                is_hopeless = isinstance(error, PermissionError) or time.monotonic() > until
                wait = None if is_hopeless else next(waits, None)
                if is_termination(error):
                    raise
                if wait is None:
                    self._is_given_up = True
                    raise StoreError(
                        f"store={self._label}: {failed} ({_reason(error)}). What was finished "
                        "before is kept: once that is mended, run the same command again."
                    ) from error
                self._say_away(error)
            time.sleep(wait)

    def _say_away(self, error: Exception) -> None:
        """Tell on stderr, once an absence, why nothing goes on."""
        if not self._is_away:
            self._is_away = True
            print(
                f"store={self._label} does not answer ({_reason(error)}): trying again for about "
                f"{sum(PATIENCE):.0f} s. What was finished before is kept.",
                file=sys.stderr,
            )

    def _answered(self) -> None:
        if self._is_away:
            print(f"store={self._label} answers again.", file=sys.stderr)
        self._is_away = self._is_given_up = False


def temporary_name() -> str:
    """A name that tells which process of which host is writing."""
    return f".tmp-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def _rename_into_place(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / temporary_name()
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _is_dead(host: str, pid: int) -> bool:
    """Whether the process is known to have ended; of other hosts nothing is known."""
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _aged(info: dict[str, Any], now: datetime) -> bool:
    return abs((now - _modified(info)).total_seconds()) > _DAY


def _modified(info: dict[str, Any]) -> datetime:
    """Time of last change: file systems name it differently and give seconds or a datetime."""
    when = info.get("mtime") or info.get("LastModified") or info.get("created") or _NEVER
    return when if isinstance(when, datetime) else datetime.fromtimestamp(when, UTC)


def _is_folder(info: dict[str, Any]) -> bool:
    """A local link is neither file nor folder to fsspec; what it leads to counts."""
    return info["type"] == "directory" or (bool(info.get("islink")) and Path(info["name"]).is_dir())


def _reason(error: Exception) -> str:
    """What the system says is wrong, without addresses' passwords."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    lines = masked(str(error)).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
