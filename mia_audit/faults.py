"""Faults that lie outside the program: told in one sentence, without a traceback, status 1."""

from __future__ import annotations


class StoreError(Exception):
    """The store could not be read or written; the message says what is kept and what to do."""
