"""Models that train in no time or misbehave on purpose; workers import them from here."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.outputs import Logits


def blobs(num_records: int = 40, seed: int = 0) -> Dataset:
    """Two Gaussian classes in three dimensions."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, num_records)
    table = rng.normal(size=(num_records, 3)) + 1.5 * labels[:, None]
    return Dataset(
        name="blobs",
        X=table.astype(np.float32),
        y=labels.astype(np.int64),
        feature_names=("a", "b", "c"),
        feature_kinds=("numeric",) * 3,
        class_names=("no", "yes"),
        rows=np.arange(100, 100 + num_records),
    )


@dataclass
class Noise:
    """Logits drawn from each model's seed, shifted for members: numbers that name their model."""

    width: int = 4
    shift: float = 1.0

    @property
    def name(self) -> str:
        return "noise"

    def stack(self, device: str) -> int:
        return self.width

    def supports(self, dataset: Dataset) -> None:
        if dataset.num_classes != 2:
            raise ValueError(f"{dataset.name} has {dataset.num_classes} classes: noise needs two.")

    def train(
        self,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        draws = np.stack(
            [np.random.default_rng(seed).normal(size=len(dataset.y)) for seed in seeds]
        )
        margin = np.where(dataset.y == 1, 1, -1) * (draws + self.shift * members)
        return Logits(np.stack([-margin / 2, margin / 2], axis=-1).astype(np.float32))


@dataclass
class Deadly(Noise):
    """Ends its worker process while the file `fuse` holds more than as many lines as deaths."""

    fuse: str = ""
    deaths: int = 1

    def train(self, dataset: Dataset, *args: Any, **kwargs: Any) -> Logits:
        with Path(self.fuse).open("a+") as file:
            file.write("x\n")
            file.seek(0)
            tries = len(file.readlines())
        if tries <= self.deaths:
            os._exit(1)
        return super().train(dataset, *args, **kwargs)


@dataclass
class Picky(Noise):
    """Ends its worker, raises or diverges when it is to train certain seeds."""

    dies_at: list[int] = field(default_factory=list)
    raises_at: list[int] = field(default_factory=list)
    diverges_at: list[int] = field(default_factory=list)

    def train(
        self, dataset: Dataset, members: np.ndarray, seeds: np.ndarray, **kwargs: Any
    ) -> Logits:
        if np.isin(seeds, self.dies_at).any():
            os._exit(1)
        if np.isin(seeds, self.raises_at).any():
            raise RuntimeError("no such luck\nsecond line")
        logits = super().train(dataset, members, seeds, **kwargs).values
        logits[np.isin(seeds, self.diverges_at), 0] = np.nan
        return Logits(logits)


@dataclass
class Slow(Noise):
    """Takes its time over every stack."""

    seconds: float = 1.0

    def train(self, dataset: Dataset, *args: Any, **kwargs: Any) -> Logits:
        time.sleep(self.seconds)
        return super().train(dataset, *args, **kwargs)


@dataclass
class Hungry(Noise):
    """Runs out of memory while another stack is being trained, or always for certain seeds."""

    folder: str = ""
    never_fits: list[int] = field(default_factory=list)

    def train(
        self, dataset: Dataset, members: np.ndarray, seeds: np.ndarray, **kwargs: Any
    ) -> Logits:
        own = Path(self.folder) / str(seeds[0])
        own.touch()
        try:
            time.sleep(0.2)
            if len(list(Path(self.folder).iterdir())) > 1 or np.isin(seeds, self.never_fits).any():
                raise MemoryError("no room for the activations")
            return super().train(dataset, members, seeds, **kwargs)
        finally:
            own.unlink()
