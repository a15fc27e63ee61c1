"""What happened in a sweep, as JSON lines: one a shard, and one for models that failed alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mia_audit.masking import masked
from mia_audit.shard import Shard


class SweepLog:
    """Kept by the driver while it trains; `text` is the file.

    Each line has the time (UTC), the event (trained or failed), the sweep's key and the models'
    indices; a shard's also its seconds on one worker, its device and how often the driver
    submitted it again. What Ray retries on its own is not counted.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._submitted: Counter[int] = Counter()

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def submitted(self, models: range) -> None:
        """These models were handed to Ray."""
        self._submitted.update(models)

    def trained(self, key: str, shard: Shard) -> None:
        """This shard is in the store."""
        retries = max(self._submitted[model] for model in shard.models) - 1
        self._write(
            "trained", key, list(shard.models),
            seconds=round(shard.seconds, 3), device=shard.device, retries=max(retries, 0),
        )  # fmt: skip

    def failed(self, key: str, causes: Mapping[int, str]) -> None:
        """These models were given up, each for this cause."""
        for cause in dict.fromkeys(causes.values()):
            models = [model for model, why in causes.items() if why == cause]
            self._write("failed", key, models, cause=masked(cause))

    def _write(self, event: str, key: str, models: list[int], **told: Any) -> None:
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": when, "event": event, "key": key, "models": models, **told}
        self._lines.append(json.dumps(line, ensure_ascii=False))
