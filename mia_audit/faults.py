"""Faults that lie outside the program: told in one sentence, without a traceback, status 1."""

from __future__ import annotations


class OutsideError(Exception):
    """Something around us failed; the message is one sentence that says what to do."""


class StoreError(OutsideError):
    """The store could not be read or written; the message says what is kept and what to do."""
