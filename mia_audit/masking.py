"""Passwords and tokens never reach a log, a run, a report or an artifact."""

from __future__ import annotations

import re

_IN_URI = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<user>[^/@\s:]*):(?P<secret>[^/@\s]+)@", re.I
)
_IN_QUERY = re.compile(
    r"(?P<key>[?&;](?:[a-z_.-]*(?:token|secret|password|signature|key|sig)))=(?P<secret>[^&\s;]+)",
    re.I,
)


def masked(text: str) -> str:
    """`text` with the password of every URI, and secret query values, replaced by `***`."""
    text = _IN_URI.sub(lambda m: f"{m['scheme']}{m['user']}:***@", text)
    return _IN_QUERY.sub(lambda m: f"{m['key']}=***", text)
