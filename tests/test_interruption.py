"""SIGTERM is recognised however deep native code buries it."""

import os
import signal

import pytest

from mia_audit import config
from mia_audit.interruption import TERMINATED, Terminated, is_termination, terminable


def buried() -> None:
    """What a native call does that a signal handler interrupts."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except Terminated as error:
        raise SystemError("returned a result with an exception set") from error


def test_a_buried_termination_is_found() -> None:
    with terminable(), pytest.raises(SystemError) as caught:
        buried()
    assert is_termination(caught.value)
    assert not is_termination(ValueError("another"))


def test_a_job_ended_so_says_how_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    def job(composed: object) -> int:
        buried()
        return 0

    assert config.run("train", job, ["seed=3"]) == TERMINATED
    error = capsys.readouterr().err
    assert error.endswith("To resume: python -m jobs.train seed=3\n")
    assert "Traceback" not in error
