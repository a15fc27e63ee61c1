"""Scores on disk or on any fsspec path: <url>/<key>/plan.json and one file a shard.

A shard exists whole or not at all: it is written under a temporary name and renamed (local) or
put as one object (remote), and its checksum is verified whenever it is read. What is missing is
read off the names, so resuming needs no database. Whatever cannot be read or written in the end
raises `StoreError` with one sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from mia_audit.masking import masked
from mia_audit.plan import Plan
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.shard import DamagedShardError, Shard, decode, encode, shard_models
from mia_audit.store_files import StoreFiles
from mia_audit.store_lock import is_free, sole_driver

_KEY = re.compile(r"[0-9a-f]{16}")
_AT_ONCE = 16  # shards in memory while reading


@dataclass(frozen=True)
class Entry:
    """One sweep in a store: what it is, how many models it holds, its size and last use."""

    key: str
    description: dict[str, Any]
    dataset: str
    num_models: int
    size: int  # bytes
    last_use: datetime


class Store:
    """A folder of sweeps. `url` is a path (`~` is expanded) or any fsspec URI."""

    def __init__(self, url: str) -> None:
        """Raises ValueError when the URI's protocol is unknown or its package not installed."""
        if not url:
            raise ValueError("store is empty: name a folder or an address, such as ./mia_store.")
        self.label = masked(str(url))
        self._files = StoreFiles(url, self.label)
        self._damaged: set[tuple[str, str]] = set()  # (key, name), found while reading

    @property
    def is_local(self) -> bool:
        """Whether the store is a folder of this machine's file system."""
        return self._files.is_local

    @property
    def folder(self) -> Path | None:
        """Where it lies on a disk of this machine, or the nearest folder above where it is to be
        made; None when it is elsewhere."""
        folder = Path(self._files.root)
        while self.is_local and not folder.exists():
            folder = folder.parent
        return folder if self.is_local else None

    def __repr__(self) -> str:
        return f"Store({self.label!r})"

    def check_writable(self) -> None:
        """Write and remove a small file; raises ValueError with one sentence if that fails."""
        try:
            self._files.probe()
        except Exception as error:  # every kind of remote has its own exceptions
            remedy = (
                "give store=PATH a folder that you may write to"
                if self.is_local
                else "check its address and credentials, and that its server answers"
            )
            raise ValueError(
                f"store={self.label}: nothing can be written there ({type(error).__name__}); "
                f"{remedy}."
            ) from error

    def sole_driver(self, plan: Plan, *, busy: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other drivers of this plan waiting while the block runs (local stores alone).

        `busy` is called once when this one has to wait.
        """
        if not self.is_local:
            return nullcontext()
        return sole_driver(self._files.path(self._folder(plan.key)), busy=busy)

    def missing(self, plan: Plan) -> list[int]:
        """Indices of the plan's models that no sound shard holds, read off the names alone."""
        held = np.zeros(plan.num_models, dtype=bool)
        for _, models in self._shards(plan.key):
            held[models.start : models.stop] = True
        return [int(model) for model in np.flatnonzero(~held)]

    def damaged(self, plan: Plan) -> list[str]:
        """Names of the plan's shards found damaged by `verify` or `load` and not yet replaced."""
        return sorted(name for key, name in self._damaged if key == plan.key)

    def verify(self, plan: Plan) -> list[str]:
        """Read all shards that `load` would; the damaged then count as missing. Their names."""
        for _ in self._read_cover(plan):
            pass
        return self.damaged(plan)

    def seconds_a_model(self, plan: Plan) -> float | None:
        """How long one model of the plan took on one worker, read off one shard; None without."""
        for name in self._cover(plan)[:1]:
            shard = self._decode(plan, name, self._fetch(plan, name))
            if shard is not None:
                return shard.seconds / len(shard.models)
        return None

    def record(self, plan: Plan) -> None:
        """Write plan.json, which says what the key stands for and when it was last used, and
        record_ids.csv: the records' rows in their source table, in the order of the scores.
        """
        ids = "".join(f"{row}\n" for row in ["record_id", *plan.dataset.rows.tolist()])
        self._files.put(f"{self._folder(plan.key)}/record_ids.csv", ids.encode())
        content = {
            "key": plan.key,
            "dataset": plan.dataset.name,
            "num_models": plan.num_models,
            "description": plan.description,
        }
        text = json.dumps(content, indent=2, ensure_ascii=False)
        self._files.put(f"{self._folder(plan.key)}/plan.json", text.encode())

    def write(self, plan: Plan, shard: Shard) -> str:
        """Add a shard, whole or not at all. Returns its name."""
        name, content = encode(shard, plan.key)
        self._files.put(f"{self._folder(plan.key)}/{name}", content)
        self._damaged.discard((plan.key, name))
        return name

    def clean(self, plan: Plan) -> None:
        """Remove what broken-off runs left behind, and damaged shards that have been replaced."""
        self._files.remove_stale(self._folder(plan.key))
        missing = set(self.missing(plan))
        for name in self.damaged(plan):
            if missing.isdisjoint(shard_models(name) or ()):
                self._files.remove(f"{self._folder(plan.key)}/{name}")
                self._damaged.discard((plan.key, name))

    def load(self, plan: Plan) -> ScoreMatrix:
        """Scores of the held models in index order; the others are named in `missing`.

        `seconds` is the training time of these models, summed over workers, as it was recorded
        when they were trained.
        """
        num_models, num_records = plan.members.shape
        scores = np.empty((num_models, num_records), dtype=np.float32)
        accuracy = np.empty((2, num_models), dtype=np.float32)
        held = np.zeros(num_models, dtype=bool)
        seconds, devices = 0.0, set()
        for shard in self._read_cover(plan):
            new = np.array([model for model in shard.models if model < num_models], dtype=int)
            new = new[~held[new]]
            rows = new - shard.first
            scores[new] = shard.scores[rows]
            accuracy[:, new] = shard.train_accuracy[rows], shard.test_accuracy[rows]
            held[new] = True
            seconds += shard.seconds * len(rows) / len(shard.models)
            devices.add(shard.device)
        return ScoreMatrix(
            scores=scores if held.all() else scores[held],
            members=plan.members if held.all() else plan.members[held],
            record_ids=plan.dataset.rows,
            train_accuracy=accuracy[0, held],
            test_accuracy=accuracy[1, held],
            seconds=seconds,
            devices=tuple(sorted(devices)),
            missing=tuple(int(model) for model in np.flatnonzero(~held)),
        )

    def entries(self) -> list[Entry]:
        """The sweeps in this store, the latest used first; what is not a sweep is passed over.

        Raises ValueError when the store is a file.
        """
        entries = [self._entry(key) for key in self._keys()]
        return sorted(entries, key=lambda entry: entry.last_use, reverse=True)

    def remove(self, key: str) -> Entry:
        """Delete a sweep; what it was. Raises ValueError when the store has no such key or a run
        trains it, and as `entries`."""
        folder = self._folder(key)
        if key not in self._keys():
            raise ValueError(f"store={self.label}: there is no sweep with the key {key}.")
        if self.is_local and not is_free(self._files.path(folder)):
            raise ValueError(
                f"store={self.label}: the sweep {key} is being trained now; end that run first."
            )
        entry = self._entry(key)
        self._files.remove(folder, recursive=True)
        return entry

    def _keys(self) -> list[str]:
        if self.folder is not None and not self.folder.is_dir():
            raise ValueError(
                f"store={self.label}: {self.folder} is a file; name the folder of a store."
            )
        infos = self._files.names("")
        return [info.name for info in infos if info.is_folder and _KEY.fullmatch(info.name)]

    def _entry(self, key: str) -> Entry:
        infos = self._files.names(self._folder(key))
        is_told = any(info.name == "plan.json" and not info.is_folder for info in infos)
        told = _told(self._files.get(f"{key}/plan.json") or b"") if is_told else {}
        description, dataset = told.get("description"), told.get("dataset")
        held = {model for info in infos for model in shard_models(info.name) or ()}
        return Entry(
            key=key,
            description=description if isinstance(description, dict) else {},
            dataset=dataset if isinstance(dataset, str) else "",
            num_models=len(held),
            size=sum(info.size for info in infos),
            last_use=max((info.modified for info in infos), default=datetime.fromtimestamp(0, UTC)),
        )

    def _folder(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not a store key: it has 16 hexadecimal digits.")
        return key

    def _shards(self, key: str) -> list[tuple[str, range]]:
        infos = self._files.names(self._folder(key))
        named = [(info.name, shard_models(info.name)) for info in infos]
        return [(n, models) for n, models in named if models and (key, n) not in self._damaged]

    def _cover(self, plan: Plan) -> list[str]:
        """The shards to read: in the order of names, each that adds a model of the plan."""
        held = np.zeros(plan.num_models, dtype=bool)
        names = []
        for name, models in self._shards(plan.key):
            span = held[models.start : models.stop]
            if not span.all():
                span[:] = True
                names.append(name)
        return names

    def _read_cover(self, plan: Plan) -> Iterator[Shard]:
        """Shards that together hold all there is; reads on when one proves to be damaged."""
        seen: set[str] = set()
        with ThreadPoolExecutor(8) as pool:
            while unread := [name for name in self._cover(plan) if name not in seen]:
                seen.update(unread)
                for at in range(0, len(unread), _AT_ONCE):
                    names = unread[at : at + _AT_ONCE]
                    fetched = pool.map(lambda name: self._fetch(plan, name), names)
                    # Decoded one after another: numpy parses headers with ast, and Python 3.11's
                    # parser now and then fails in threads ("recursion depth mismatch").
                    for name, content in zip(names, fetched, strict=True):
                        if (shard := self._decode(plan, name, content)) is not None:
                            yield shard

    def _fetch(self, plan: Plan, name: str) -> bytes | None:
        return self._files.get(f"{self._folder(plan.key)}/{name}")

    def _decode(self, plan: Plan, name: str, content: bytes | None) -> Shard | None:
        try:
            if content is not None:
                return decode(name, content, plan)
        except DamagedShardError:
            pass
        self._damaged.add((plan.key, name))
        return None


def _told(text: bytes) -> dict[str, Any]:
    """What plan.json says; nothing when it is damaged, which costs no scores."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):  # nested too deep to be ours
        return {}
    return told if isinstance(told, dict) else {}
