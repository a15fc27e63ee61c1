"""Scores on disk or on any fsspec path: <url>/<key>/plan.json and one file a shard.

A shard exists whole or not at all: it is written under a temporary name and renamed (local) or
put as one object (remote), and its checksum is verified whenever it is read. What is missing is
read off the names, so resuming needs no database.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
from fsspec.implementations.local import LocalFileSystem

from mia_audit.masking import masked
from mia_audit.plan import Plan
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.shard import DamagedShardError, Shard, decode, encode, shard_models
from mia_audit.store_files import put_whole, remove_stale

_KEY = re.compile(r"[0-9a-f]{16}")


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
        expanded = url if "://" in url else os.path.abspath(os.path.expanduser(url))
        try:
            self._files, root = fsspec.core.url_to_fs(expanded)
        except (ImportError, ValueError) as error:
            raise ValueError(
                f"store={self.label}: {masked(str(error)).rstrip('.')}; use a local folder, or "
                "install the package for this kind of address (mia_audit[s3] for s3://)."
            ) from error
        self._root = root.rstrip("/")
        self._local = isinstance(self._files, LocalFileSystem)
        self._damaged: set[tuple[str, str]] = set()  # (key, name), found while reading

    def __repr__(self) -> str:
        return f"Store({self.label!r})"

    def check_writable(self) -> None:
        """Write and remove a small file; raises ValueError with one sentence if that fails."""
        probe = f"{self._nearest_folder()}/.writable-{os.getpid()}"
        try:
            put_whole(self._files, probe, b"mia_audit")
            self._files.rm_file(probe)
        except Exception as error:  # every kind of remote has its own exceptions
            raise ValueError(
                f"store={self.label}: nothing can be written there ({type(error).__name__}); "
                "give store=PATH a folder that you may write to, or check its credentials."
            ) from error

    def _nearest_folder(self) -> str:
        """The store's folder or, on a disk where there is none yet, the nearest above it: a probe
        must leave nothing behind, and not remove what another driver has just made."""
        folder = Path(self._root)
        while self._local and not folder.exists():
            folder = folder.parent
        return str(folder) if self._local else self._root

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
        self._read_cover(plan)
        return self.damaged(plan)

    def record(self, plan: Plan) -> None:
        """Write plan.json, which says what the key stands for and when it was last used, and
        record_ids.csv: the records' rows in their source table, in the order of the scores.
        """
        ids = "".join(f"{row}\n" for row in ["record_id", *plan.dataset.rows.tolist()])
        put_whole(self._files, f"{self._folder(plan.key)}/record_ids.csv", ids.encode())
        content = {
            "key": plan.key,
            "dataset": plan.dataset.name,
            "num_models": plan.num_models,
            "description": plan.description,
        }
        text = json.dumps(content, indent=2, ensure_ascii=False)
        put_whole(self._files, f"{self._folder(plan.key)}/plan.json", text.encode())

    def write(self, plan: Plan, shard: Shard) -> str:
        """Add a shard, whole or not at all. Returns its name."""
        name, content = encode(shard, plan.key)
        put_whole(self._files, f"{self._folder(plan.key)}/{name}", content)
        self._damaged.discard((plan.key, name))
        return name

    def clean(self, plan: Plan) -> None:
        """Remove what broken-off runs left behind, and damaged shards that have been replaced."""
        if self._local:
            remove_stale(self._folder(plan.key))
        missing = set(self.missing(plan))
        for name in self.damaged(plan):
            if missing.isdisjoint(shard_models(name) or ()):
                self._files.rm_file(f"{self._folder(plan.key)}/{name}")
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
        """The sweeps in this store, the latest used first."""
        keys = [name for name, _ in self._names(self._root) if _KEY.fullmatch(name)]
        return sorted((self._entry(key) for key in keys), key=lambda e: e.last_use, reverse=True)

    def remove(self, key: str) -> None:
        """Delete a sweep. Raises ValueError when the store has no such key."""
        if not self._files.exists(self._folder(key)):
            raise ValueError(f"store={self.label}: there is no sweep with the key {key}.")
        self._files.rm(self._folder(key), recursive=True)

    def _entry(self, key: str) -> Entry:
        names = self._names(self._folder(key))
        told: dict[str, Any] = {}
        if any(name == "plan.json" for name, _ in names):
            told = json.loads(self._files.cat_file(f"{self._folder(key)}/plan.json"))
        held = {model for name, _ in names for model in shard_models(name) or ()}
        return Entry(
            key=key,
            description=told.get("description", {}),
            dataset=told.get("dataset", ""),
            num_models=len(held),
            size=sum(info["size"] or 0 for _, info in names),
            last_use=max((_modified(info) for _, info in names), default=_NEVER),
        )

    def _folder(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not a store key: it has 16 hexadecimal digits.")
        return f"{self._root}/{key}"

    def _names(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        """Names in a folder with what the file system says of each, sorted by name."""
        self._files.invalidate_cache(folder)
        try:
            infos = self._files.ls(folder, detail=True)
        except FileNotFoundError:
            return []
        return sorted(((info["name"].rsplit("/", 1)[-1], info) for info in infos), key=_first)

    def _shards(self, key: str) -> list[tuple[str, range]]:
        named = [(name, shard_models(name)) for name, _ in self._names(self._folder(key))]
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

    def _read_cover(self, plan: Plan) -> list[Shard]:
        """Shards that together hold all there is; reads on when one proves to be damaged."""
        sound: dict[str, Shard] = {}
        while unread := [name for name in self._cover(plan) if name not in sound]:
            with ThreadPoolExecutor(8) as pool:
                fetched = list(pool.map(lambda name: self._fetch(plan, name), unread))
            # Decoded one after another: numpy parses headers with ast, and Python 3.11's parser
            # now and then fails in threads ("recursion depth mismatch").
            read = [self._decode(plan, *pair) for pair in zip(unread, fetched, strict=True)]
            sound |= {name: shard for name, shard in zip(unread, read, strict=True) if shard}
        return [sound[name] for name in sorted(sound)]

    def _fetch(self, plan: Plan, name: str) -> bytes | None:
        try:
            return self._files.cat_file(f"{self._folder(plan.key)}/{name}")
        except FileNotFoundError:
            return None

    def _decode(self, plan: Plan, name: str, content: bytes | None) -> Shard | None:
        try:
            if content is not None:
                return decode(name, content, plan)
        except DamagedShardError:
            pass
        self._damaged.add((plan.key, name))
        return None


_NEVER = datetime.fromtimestamp(0, UTC)


def _first(pair: Iterable[Any]) -> Any:
    return next(iter(pair))


def _modified(info: dict[str, Any]) -> datetime:
    """Time of last change: file systems name it differently and give seconds or a datetime."""
    when = info.get("mtime") or info.get("LastModified") or info.get("created") or _NEVER
    return when if isinstance(when, datetime) else datetime.fromtimestamp(when, UTC)
