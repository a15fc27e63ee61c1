"""Files of a store: whole or not at all, old leftovers removed, faults told in one sentence."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mia_audit import store_files
from mia_audit.faults import StoreError
from mia_audit.store_files import StoreFiles
from mia_audit.store_lock import is_free, sole_driver

HOST = os.uname().nodename
DAY = 24 * 3600


def files(folder: Path) -> StoreFiles:
    return StoreFiles(str(folder), str(folder))


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("offset", [-400 * DAY, -2 * DAY, 2 * DAY, 400 * DAY])
def test_age_is_told_by_the_file_system_not_by_our_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: float
) -> None:
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + offset)
    fresh = tmp_path / ".tmp-no.such-host-1-01234567"
    stale = tmp_path / ".tmp-no.such-host-2-01234567"
    for file, age in ((fresh, 0.9 * DAY), (stale, 1.1 * DAY)):
        file.write_text("half")
        os.utime(file, (real - age, real - age))
    files(tmp_path).remove_stale("")
    assert names(tmp_path) == {fresh.name}


def test_a_leftover_dated_in_the_future_does_not_stay_for_years(tmp_path: Path) -> None:
    ahead = tmp_path / ".tmp-no.such-host-1-01234567"
    ahead.write_text("half")
    os.utime(ahead, (time.time() + 900 * DAY,) * 2)
    files(tmp_path).remove_stale("")
    assert names(tmp_path) == set()


def test_a_probe_leaves_nothing_and_clears_the_leftovers_of_dead_probes(tmp_path: Path) -> None:
    (tmp_path / f".tmp-{HOST}-{ended_process()}-01234567").write_text("mia_audit")
    (tmp_path / "theirs").write_text("theirs")
    files(tmp_path / "store").probe()
    assert names(tmp_path) == {"theirs"}


def test_files_larger_than_allowed_are_one_sentence_and_leave_nothing(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from mia_audit.store_files import StoreFiles\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "files = StoreFiles(sys.argv[1], 'here')\n"
        "files.put('a/small', b'x' * 1000)\n"
        "files.put('a/large', b'x' * 1001)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip().splitlines()[-1] == (
        "mia_audit.faults.StoreError: store=here: a/large could not be written (file too large). "
        "What was finished before is kept: once that is mended, run the same command again."
    )
    assert names(tmp_path / "a") == {"small"}


class Flaky:
    """An fsspec file system that fails as often as it is told to, and notes each try."""

    def __init__(self, real: Any, failures: int, error: Exception) -> None:
        self.real, self.failures, self.error, self.tries = real, failures, error, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def pipe_file(self, path: str, content: bytes) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            raise self.error
        self.real.pipe_file(path, content)


def flaky(failures: int, error: Exception, monkeypatch: pytest.MonkeyPatch) -> StoreFiles:
    monkeypatch.setattr(store_files, "PATIENCE", (0.1, 0.1, 0.1))
    remote = StoreFiles("memory://flaky", "memory://flaky")
    monkeypatch.setattr(remote, "_system", Flaky(remote._system, failures, error))
    return remote


def test_a_remote_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = flaky(3, ConnectionError("away"), monkeypatch)
    remote.put("key/file", b"content")
    assert remote.get("key/file") == b"content"


def test_a_remote_that_stays_away_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = flaky(4, RuntimeError("away: s3://me:secret@host/"), monkeypatch)
    with pytest.raises(StoreError, match=r"key/file could not be written \(RuntimeError: away"):
        remote.put("key/file", b"content")


def test_a_refusal_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = flaky(9, PermissionError(13, "Permission denied"), monkeypatch)
    with pytest.raises(StoreError, match=r"permission denied") as error:
        remote.put("key/file", b"content")
    assert remote._system.tries == 1
    assert "secret" not in str(error.value)


def test_a_second_driver_waits_for_the_first(tmp_path: Path) -> None:
    folder, order = str(tmp_path / "key"), []
    waiting = threading.Event()

    def second() -> None:
        with sole_driver(folder, busy=waiting.set):
            order.append("second")

    with sole_driver(folder, busy=lambda: order.append("busy")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        assert not is_free(folder)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert is_free(folder)
    assert names(tmp_path / "key") == set()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import sys, time; from mia_audit.store_lock import sole_driver\n"
        "with sole_driver(sys.argv[1], busy=print):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not is_free(str(tmp_path))
        holder.kill()
        holder.wait()
    assert is_free(str(tmp_path))


def test_a_folder_that_was_removed_while_waiting_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "key"
    removed = threading.Event()

    def second() -> None:
        with sole_driver(str(folder), busy=removed.set):
            (folder / "shard").write_text("here")

    with sole_driver(str(folder), busy=lambda: None):
        thread = threading.Thread(target=second)
        thread.start()
        assert removed.wait(10)
        folder.rmdir()
    thread.join(10)
    assert (folder / "shard").read_text() == "here"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB; only root may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("no right to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_sentence_and_the_store_goes_on_when_there_is_room(
    small_disk: Path,
) -> None:
    store = files(small_disk)
    store.put("key/first", b"x" * 40_000)
    with pytest.raises(StoreError, match=r"key/second could not be written \(no space left on"):
        store.put("key/second", b"x" * 40_000)
    assert names(small_disk / "key") == {"first"}
    store.remove("key/first")
    store.put("key/second", b"x" * 40_000)
    assert store.get("key/second") == b"x" * 40_000
