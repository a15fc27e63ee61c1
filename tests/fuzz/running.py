"""Commands in this process, on input made by hypothesis: what may come out of them, and how often.

Every property is tested twice: on some dozens of inputs always, on thousands in the long form.
"""

import contextlib
import io
import os
import signal
import tempfile
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, settings

from mia_audit.config import run
from mia_audit.config_errors import one_line
from mia_audit.schema import Composed

LONGEST = 60  # seconds for one input: longer is a hang
IN_CI, LONG = 40, 2500  # inputs a property


def inputs(number: int) -> settings:
    """That many inputs, the same ones every time."""
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),  # shrinking takes minutes, and the input is printed anyway
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """A folder that is the current one while the block runs, with a home of its own beside it.

    It lies deep, so that a path such as ../.. stays in what is removed.
    """
    with tempfile.TemporaryDirectory() as outermost:
        above = Path(outermost, "a", "b")
        folder, home = above / "c", above / "home"
        folder.mkdir(parents=True)
        home.mkdir()
        with contextlib.chdir(folder), unittest.mock.patch.dict(os.environ, HOME=str(home)):
            yield folder
        assert [*above.parents[0].iterdir(), *sorted(above.iterdir())] == [above, folder, home]


def told(name: str, job: Callable[[Composed[Any]], int], arguments: list[str]) -> tuple[int, str]:
    """Exit status and stderr of a command; TimeoutError after LONGEST seconds."""
    errors = io.StringIO()
    with (
        within(LONGEST),
        contextlib.redirect_stderr(errors),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        return run(name, job, arguments), errors.getvalue()


def told_directly(job: Callable[[], object]) -> tuple[int, str]:
    """The same for work that needs no command line composed: a ValueError is the user's mistake."""
    with within(LONGEST), contextlib.redirect_stdout(io.StringIO()):
        try:
            job()
        except ValueError as error:
            return 2, one_line(str(error)) + "\n"
    return 0, ""


def check(status: int, errors: str) -> None:
    """Done, or one sentence on a mistake."""
    assert status in (0, 2)
    assert errors.count("\n") == (status == 2), errors
    assert len(errors.strip()) >= 10 * (status == 2)
    assert "Traceback" not in errors


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    def late(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    previous = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        os.fspath(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
