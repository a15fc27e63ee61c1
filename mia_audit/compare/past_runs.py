"""Audits logged before, found by a query and read back from their artifacts."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mia_audit import tracking
from mia_audit.compare.comparison import Subject
from mia_audit.compare.designs import Design
from mia_audit.compare.entries import REFERENCE, label_of_run
from mia_audit.compare.words import attacker_sentence, title_of
from mia_audit.config import compose_audit
from mia_audit.external.files import as_floats, load
from mia_audit.preparation import audit_settings
from mia_audit.report import ReportContext
from mia_audit.schema import CompareConfig, Composed
from mia_audit.score_matrix import ScoreMatrix


@dataclass(frozen=True, eq=False)
class PastAudit:
    """A logged audit with its scores; `parent` is the run it already belongs to, or ''."""

    run_id: str
    parent: str
    subject: Subject
    design: Design
    store_key: str


def read_past(composed: Composed[CompareConfig]) -> list[PastAudit]:
    """The finished audits that `runs` finds, `none` first, of each defence the newest.

    Raises ValueError when the query cannot be run or finds too little, when two different sweeps
    of one defence match, and for a run without its scores.
    """
    query = composed.settings.runs
    assert query is not None
    found = [run for run in tracking.search(composed.settings.tracking, query) if _is_audit(run)]
    newest: dict[str, dict[str, Any]] = {}
    for run in found:  # newest first
        label = _label(composed, run)
        other = newest.setdefault(label, run)
        if _key(other) != _key(run):
            raise ValueError(
                f"runs={query}: it finds different sweeps of {label} (keys {_key(other)} and "
                f"{_key(run)}); narrow it to one of them, for example with "
                f"tags.store_key != '{_key(run)}'."
            )
    if REFERENCE not in newest:
        raise ValueError(
            f"runs={query}: it finds {_counted(len(newest))} but none without a defence, which the "
            "others are compared with; widen it, or run jobs.audit with defence=none first."
        )
    labels = sorted(newest, key=lambda label: (label != REFERENCE, newest[label]["started"]))
    return [_read(composed, label, newest[label]) for label in labels]


def past_context(past: Sequence[PastAudit], composed: Composed[CompareConfig]) -> ReportContext:
    """What the page says beside its numbers: the names of the first audit, and all that were read.

    What varies between them is left out.
    """
    first = past[0]
    size = first.subject.matrix
    runs = ", ".join(f"{one.subject.label} (run {one.run_id})" for one in past)
    return ReportContext(
        title=title_of(first.design.model, first.design.data),
        dataset=first.design.data,
        model=first.design.model,
        defence="",
        attack=composed.settings.attack.name,
        num_models=size.num_models,
        num_records=size.num_records,
        seed=first.subject.settings.seed,
        design=first.subject.settings.design,
        notes=(f"Audits read from MLflow, nothing was trained: {runs}.",),
        config_yaml=composed.yaml,
        seconds=sum(one.subject.matrix.seconds for one in past),
        report_path="mia_report.html",
        command=composed.command,
    )


def _read(composed: Composed[CompareConfig], label: str, run: Mapping[str, Any]) -> PastAudit:
    matrix = _matrix(composed.settings.tracking, run)
    params, tags, metrics = run["params"], run["tags"], run["metrics"]
    settings = replace(
        audit_settings(composed.settings),
        design=params.get("design", "bernoulli"),
        fraction=float(params.get("fraction", 0.5)),
        seed=int(params.get("seed", 0)),
        claimed_epsilon=metrics.get("epsilon_claimed"),
        claimed_delta=_number(params.get("defence.delta"), 0.0),
    )
    attacker = tags.get("attacker") or attacker_sentence(label)
    subject = Subject(label, matrix, settings, attacker)
    design = Design(
        data=tags.get("dataset", ""),
        digest=tags.get("data_digest", ""),
        settings=_settings(params, "dataset") | _settings(params, "model"),
        model=tags.get("model", ""),
        record_ids=matrix.record_ids,
        members=matrix.members,
    )
    parent = tags.get("mlflow.parentRunId", "")
    return PastAudit(run["run_id"], parent, subject, design, _key(run))


def _matrix(address: tracking.Tracking, run: Mapping[str, Any]) -> ScoreMatrix:
    with tempfile.TemporaryDirectory(prefix="mia_audit_") as folder:
        names = ("models.json", "scores/scores.npy", "scores/members.npy", "records.parquet")
        paths = [tracking.download(address, run["run_id"], name, folder) for name in names]
        try:
            return read_artifacts(*paths, seconds=run["metrics"].get("seconds", math.nan))
        except ValueError as error:
            raise ValueError(
                f"run {run['run_id']}: {str(error).replace(folder + '/', '')} Leave it out with"
                f" attributes.run_id != '{run['run_id']}' in runs=, or audit that defence again."
            ) from error


def read_artifacts(
    models: Path, scores: Path, members: Path, records: Path, *, seconds: float
) -> ScoreMatrix:
    """The matrix that a run was logged with. Raises ValueError for damaged files."""
    import pandas as pd

    try:
        accuracy = pd.DataFrame(tracking.read_table(models))
        record_ids = pd.read_parquet(records)["record_id"].to_numpy(dtype=np.int64)
        train = accuracy["train_accuracy"].to_numpy(dtype=np.float32)
        test = accuracy["test_accuracy"].to_numpy(dtype=np.float32)
    except Exception as error:  # parsers raise many kinds
        raise ValueError("models.json or records.parquet is damaged.") from error
    return ScoreMatrix(
        scores=as_floats(load(scores), scores).astype(np.float32),
        members=load(members),
        record_ids=record_ids,
        train_accuracy=train,
        test_accuracy=test,
        seconds=seconds,
    )


def _label(composed: Composed[CompareConfig], run: Mapping[str, Any]) -> str:
    tag = run["tags"].get("defence", "")
    try:
        defaults = compose_audit(composed, tag.partition("(")[0], {}).values["defence"]
    except ValueError:  # a defence of another version, or scores from elsewhere
        defaults = {}
    return label_of_run(tag, run["params"], defaults)


def _is_audit(run: Mapping[str, Any]) -> bool:
    return run["tags"].get("kind") == "audit" and run["status"] == "FINISHED"


def _key(run: Mapping[str, Any]) -> str:
    return f"{run['tags'].get('store_key', '')}/{run['params'].get('num_models', '')}"


def _settings(params: Mapping[str, str], group: str) -> dict[str, str]:
    return {key: value for key, value in params.items() if key.startswith(f"{group}.")}


def _number(text: str | None, default: float) -> float:
    try:
        return float(text or default)
    except ValueError:
        return default


def _counted(count: int) -> str:
    return f"audits of {count} defence{'s' if count != 1 else ''}" if count else "no audit"
