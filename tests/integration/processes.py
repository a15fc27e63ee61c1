"""Processes of a test, found by a mark in their environment that children inherit."""

import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = "MIA_AUDIT_TEST_MARK"
LONGEST_LIFE = 120.0  # seconds that Ray's agents may outlive their driver


@dataclass
class Marked:
    """Everything started below one mark."""

    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    ended: float = 0.0  # time.monotonic() of the end of the test that started them

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """`python -m …` from the repository's root, in a session of its own as from a terminal."""
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=os.environ | {MARK: self.mark, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def alive(self) -> dict[int, str]:
        """Command lines of the processes that carry the mark, by pid."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self.mark.encode() in (folder / "environ").read_bytes():
                        line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                        found[int(folder.name)] = line
                except OSError:  # gone, or a zombie
                    continue
        return {pid: line for pid, line in found.items() if line}

    def kill_one(self, part: str, choice: float) -> bool:
        """SIGKILL to one of the processes whose command line holds `part`; False without one."""
        pids = sorted(pid for pid, line in self.alive().items() if part in line)
        if not pids:
            return False
        try:
            os.kill(pids[int(choice * len(pids))], signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def wait_until_gone(self) -> dict[int, str]:
        """What is still alive LONGEST_LIFE after the end, empty as soon as nothing is."""
        while left := self.alive():
            if time.monotonic() > self.ended + LONGEST_LIFE:
                return left
            time.sleep(1.0)
        return {}
