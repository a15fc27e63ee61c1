"""How a command begins: help and an interrupt are answered before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from mia_audit.help import help_text
from mia_audit.interruption import INTERRUPTED, is_interrupt, say_how_to_resume


def entry(name: str) -> Callable[[Callable[[Any], int]], Callable[[], None]]:
    """Decorator: make a job the command `name`; its return value is the exit status."""

    def decorate(job: Callable[[Any], int]) -> Callable[[], None]:
        def command() -> None:
            sys.exit(_answer(name, job, sys.argv[1:]))

        command.__doc__ = job.__doc__
        return command

    return decorate


def say(text: str) -> None:
    """Print to stdout; a reader that has seen enough (`| head`) is no fault."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the exit tries again


def _answer(name: str, job: Callable[[Any], int], arguments: list[str]) -> int:
    if any(argument in ("-h", "--help") for argument in arguments):
        say(help_text(name))
        return 0
    try:
        from mia_audit.config import run  # seconds: all kinds of data, models and defences

        return run(name, job, arguments)
    except BaseException as error:
        if not is_interrupt(error):
            raise
        say_how_to_resume(name, arguments)
        return INTERRUPTED
