"""TabPFN: a pretrained transformer that takes the training set as its context."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mia_audit.data.codes import category_codes
from mia_audit.data.dataset import Dataset
from mia_audit.models.in_context import CHECKPOINT, MOST_COLUMNS
from mia_audit.models.outputs import Logits

BUNDLED = "bundled"
MOST_CLASSES = 10
SMALLEST_LOG_PROBABILITY = float(np.log(1e-12))


@dataclass
class TabPFN:
    """The real tabpfn.TabPFNClassifier on weights that lie on this machine.

    checkpoint: path of the weights; None for the default weights of `version` where the tabpfn
        package keeps them; "bundled" for the small ones that lie beside this code (two classes,
        30 columns: mia_audit.models.in_context). The file's name tells tabpfn which version's
        defaults to use.
    version: "v2" (free to download under the Prior Labs licence), "v2.5" and later (gated,
        non-commercial).
    n_estimators: differently preprocessed contexts that are averaged; None for the version's own.
    softmax_temperature: divides the logits; None for the checkpoint's own (0.9 for v2).
    query_chunk: records asked at a time. Queries never see each other, so chunks change nothing
        but memory.
    """

    checkpoint: str | None = None
    version: str = "v2"
    n_estimators: int | None = None
    softmax_temperature: float | None = None
    query_chunk: int = 1024

    @property
    def name(self) -> str:
        """How configuration and reports call this model."""
        return "tabpfn"

    def stack(self, device: str) -> int:
        """1: contexts are prepared one after another."""
        return 1

    def fingerprint(self) -> dict[str, str]:
        """What the numbers depend on beside the fields: the weights, and what they are shown."""
        content = hashlib.sha256(self.path().read_bytes()).hexdigest()
        return {"checkpoint_sha256": content, "categories": "codes"}

    def path(self) -> Path:
        """Where the weights lie. ValueError: they do not, or the version is unknown."""
        from tabpfn.constants import ModelVersion
        from tabpfn.model_loading import resolve_model_path

        versions = [version.value for version in ModelVersion]
        if self.version not in versions:
            raise ValueError(
                f"model.version is {self.version}: it is one of {', '.join(versions)}."
            )
        if self.checkpoint == BUNDLED:
            return CHECKPOINT
        path = resolve_model_path(self.checkpoint, "classifier", self.version)[0][0]
        if not path.is_file():
            raise ValueError(
                f"There are no TabPFN weights at {path}: download them on a machine with a network "
                "(https://huggingface.co/Prior-Labs) and give the file as model.checkpoint, or "
                "take the small ones that come with mia_audit: model=tabpfn_small."
            )
        return path

    def supports(self, dataset: Dataset) -> None:
        """ValueError: no weights, settings that make no sense, too many classes or columns."""
        for key in ("n_estimators", "query_chunk"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise ValueError(f"model.{key} is {value}: it must be at least 1.")
        if self.softmax_temperature is not None and not self.softmax_temperature > 0:
            raise ValueError(
                f"model.softmax_temperature is {self.softmax_temperature}: it must be positive."
            )
        self.path()
        bundled = self.checkpoint == BUNDLED
        whose, instead = (
            ("The bundled TabPFN weights take", "; give others as model.checkpoint.")
            if bundled
            else ("TabPFN takes", ".")
        )
        most_classes = 2 if bundled else MOST_CLASSES
        if not 2 <= dataset.num_classes <= most_classes:
            takes = "2" if bundled else f"2 to {MOST_CLASSES}"
            raise ValueError(
                f"{dataset.name} has {dataset.num_classes} classes: {whose} {takes}{instead}"
            )
        columns = category_codes(dataset).shape[1]
        if bundled and columns > MOST_COLUMNS:
            raise ValueError(
                f"{dataset.name} has {columns} columns: {whose} up to {MOST_COLUMNS}{instead}"
            )

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
        """Give TabPFN m contexts, one for each row of `members` (bool [m, N]), and ask each about
        every record, categories as codes. Logits are log-probabilities, never rounded; a class
        that a context lacks has log(1e-12). num_train and slots are for stacks.

        ValueError: a context holds fewer than two classes.
        """
        from mia_audit.models.training import one_thread

        shape = (len(members), len(dataset.y), dataset.num_classes)
        values = np.full(shape, SMALLEST_LOG_PROBABILITY, dtype=np.float32)
        X = category_codes(dataset)
        with one_thread(device):
            for model, (row, seed) in enumerate(zip(members, seeds, strict=True)):
                if len(np.unique(dataset.y[row])) < 2:
                    raise ValueError(
                        f"The training set in row {model} of members has fewer than two classes: "
                        "TabPFN needs two."
                    )
                classifier = self.classifier(int(seed), device)
                classifier.fit(X[row], dataset.y[row])
                values[model][:, classifier.classes_] = self._log_probabilities(classifier, X)
        return Logits(values)

    def classifier(self, seed: int, device: str) -> Any:
        """An unfitted TabPFNClassifier that keeps its context's keys and values once fitted."""
        # The network is built once a process, not once a context; nothing is reported home.
        os.environ.setdefault("TABPFN_MODEL_CACHE_SIZE", "1")
        os.environ.setdefault("TABPFN_DISABLE_TELEMETRY", "1")
        os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"  # a checkpoint is never unpickled
        from tabpfn import TabPFNClassifier

        return TabPFNClassifier(
            model_path=str(self.path()),
            device=device,
            n_estimators="auto" if self.n_estimators is None else self.n_estimators,
            softmax_temperature="auto"
            if self.softmax_temperature is None
            else self.softmax_temperature,
            fit_mode="fit_with_cache",
            # The package refuses more than 1,000 records on a CPU because it is slow, not wrong.
            ignore_pretraining_limits=True,
            random_state=seed % 2**31,
        )

    def _log_probabilities(self, classifier: Any, X: np.ndarray) -> np.ndarray:
        """Log of the average over estimators of the class probabilities, [N, classes]."""
        chunks = [
            X[start : start + self.query_chunk] for start in range(0, len(X), self.query_chunk)
        ]
        logits = np.concatenate([classifier.predict_raw_logits(chunk) for chunk in chunks], axis=1)
        return average_log_probabilities(
            logits.astype(np.float64) / classifier.softmax_temperature_
        )


def average_log_probabilities(logits: np.ndarray) -> np.ndarray:
    """log mean_e softmax(logits[e]) without leaving the log scale: [E, N, C] → [N, C]."""
    logs = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    return np.logaddexp.reduce(logs, axis=0) - np.log(len(logits))
