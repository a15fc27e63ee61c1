"""Any classifier with scikit-learn's interface, named by its dotted path: the one door for
estimators that are not in this package."""

import hashlib
import importlib
import inspect
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mia_audit.data.dataset import Dataset
from mia_audit.models.outputs import Probabilities


@dataclass
class SklearnModel:
    """A classifier that is fitted with `fit(X, y)` and asked with `predict_proba(X)`.

    estimator: dotted path of its class, which must be importable wherever models are trained.
    params: its constructor's arguments. `random_state` comes from each model's own seed and
        `n_jobs` is 1 unless given here.
    """

    estimator: str = "sklearn.ensemble.HistGradientBoostingClassifier"
    params: Any = None

    @property
    def name(self) -> str:
        """How configuration and reports call this model."""
        return "sklearn"

    def stack(self, device: str) -> int:
        """1: estimators are fitted one after another."""
        return 1

    def fingerprint(self) -> dict[str, str]:
        """What the numbers depend on beside the fields: the package's version, or the source."""
        kind = self._find()
        root = kind.__module__.partition(".")[0]
        try:
            return {"package": root, "version": version(root.replace("sklearn", "scikit-learn"))}
        except PackageNotFoundError:
            source = Path(inspect.getsourcefile(kind) or "").read_bytes()
            return {"source_sha256": hashlib.sha256(source).hexdigest()}

    def supports(self, dataset: Dataset) -> None:
        """ValueError if the estimator cannot be made or gives no probabilities."""
        estimator = self.make(seed=0)
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{self.estimator} with these params has no predict_proba: "
                "choose a classifier that gives class probabilities."
            )
        if hasattr(estimator, "_validate_params"):
            # scikit-learn's own check of values, which otherwise waits for the first fit.
            try:
                estimator._validate_params()
            except ValueError as error:
                raise ValueError(f"model.params: {error}") from error
        if dataset.num_classes < 2:
            raise ValueError(f"{dataset.name} has one class: there is nothing to learn.")

    def make(self, *, seed: int) -> Any:
        """An unfitted estimator whose randomness is `seed` (taken modulo 2³²)."""
        params = dict(self.params or {})
        kind = self._find()
        known = _parameters_of(kind)
        unknown = [key for key in params if known is not None and key not in known]
        if unknown:
            raise ValueError(
                f"{self.estimator} has no parameter {unknown[0]}; "
                f"it has {', '.join(sorted(known or ()))}."
            )
        defaults = {"random_state": seed % 2**32, "n_jobs": 1}
        own = {key: value for key, value in defaults.items() if key in (known or ())}
        try:
            return kind(**(own | params))
        except TypeError as error:
            raise ValueError(
                f"{self.estimator} cannot be made with these params: {error}."
            ) from error

    def train(
        self,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Probabilities:
        """Fit m estimators, one on each row of `members` (bool [m, N]), one thread each.

        num_train, device and slots are for models that train in stacks. A class that a training
        set lacks gets probability 0.
        ValueError: a training set is empty.
        """
        values = np.zeros((len(members), len(dataset.y), dataset.num_classes))
        with threadpool_limits(limits=1):
            for model, (row, seed) in enumerate(zip(members, seeds, strict=True)):
                if not row.any():
                    raise ValueError(f"The training set in row {model} of members is empty.")
                # Labels without gaps: some estimators (XGBoost) refuse others.
                classes, labels = np.unique(dataset.y[row], return_inverse=True)
                values[model][:, classes] = self._fit_one(dataset.X, row, labels, int(seed))
        return Probabilities(values)

    def _fit_one(self, X: np.ndarray, row: np.ndarray, labels: np.ndarray, seed: int) -> np.ndarray:
        """Probabilities [N, classes in the set] of one estimator; a lone class is certain."""
        if labels.max() == 0:
            return np.ones((len(X), 1))
        return self.make(seed=seed).fit(X[row], labels).predict_proba(X)

    def _find(self) -> Any:
        """The class at the dotted path."""
        module, _, name = self.estimator.rpartition(".")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(
                f"There is no estimator {self.estimator}: give the dotted path of a class, such "
                "as sklearn.ensemble.RandomForestClassifier."
            ) from error


def _parameters_of(kind: Any) -> set[str] | None:
    """Names its constructor takes; None where it does not say (not a scikit-learn class)."""
    names = getattr(kind, "_get_param_names", None)
    return None if names is None else set(names())
