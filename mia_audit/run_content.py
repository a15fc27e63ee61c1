"""What an audit's MLflow run holds: names of metrics, tables, arrays. No MLflow in here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict
from math import isclose, isfinite

import numpy as np

from mia_audit.audit import AuditResult
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.evaluation import OperatingPoint
from mia_audit.stats.ptdi_target import TargetSelection

HEADLINE = "post_empirical"

Row = dict[str, object]


def metrics(result: AuditResult) -> dict[str, float]:
    """The numbers that MLflow's table of runs can sort by; levels are written `f"{alpha:g}"`.

    `tpr_at_fpr/…`, `tpr_lower/…`, `tpr_upper/…` and `fpr_achieved/…` are the headline's
    (`post_empirical`); every other method stands below `methods/<method>/`.
    """
    found = dict(_headline(result))
    found |= dict(_methods(result))
    found |= {
        "auc": result.evaluation.auc,
        "auc_naive": result.evaluation.auc_naive,
        "train_accuracy": _mean(result.train_accuracy),
        "test_accuracy": _mean(result.test_accuracy),
        "epsilon_measured": result.epsilon_measured,
        "nan_entries": float(result.evaluation.nan_entries),
    }
    if result.epsilon_claimed is not None:
        found["epsilon_claimed"] = result.epsilon_claimed
    if result.noise is not None:
        found |= {"noise_share/in": result.noise.inside, "noise_share/out": result.noise.outside}
    if result.selection is not None:
        found |= _selection_metrics(result)
    return {name: value for name, value in found.items() if isfinite(value)}


def step_metrics(result: AuditResult) -> dict[str, list[float]]:
    """Accuracy of every model, one step each; none for scores from elsewhere."""
    series = {
        "per_model/train_accuracy": result.train_accuracy,
        "per_model/test_accuracy": result.test_accuracy,
    }
    return {name: values.tolist() for name, values in series.items() if np.isfinite(values).all()}


def tables(result: AuditResult) -> dict[str, list[Row]]:
    """Small tables as `.json` artifacts, a list of rows each; nan becomes null on writing."""
    points = [*result.evaluation.points, *result.population]
    found: dict[str, list[Row]] = {
        "models.json": [
            {"model": model, "train_accuracy": float(train), "test_accuracy": float(test)}
            for model, (train, test) in enumerate(
                zip(result.train_accuracy, result.test_accuracy, strict=True)
            )
        ],
        "convergence.json": [asdict(point) for point in result.convergence],
    }
    if result.target is not None:
        points += result.target.points
    found["operating_points.json"] = [asdict(point) for point in points]
    if result.selection is not None:
        found["selection_curves.json"] = [asdict(row) for row in result.selection.curves]
    return found


def selections(result: AuditResult) -> dict[str, Row]:
    """`selection.json` of the named model, and `target_selection.json` of an existing one."""
    found: dict[str, Row] = {}
    if result.selection is not None:
        found["selection.json"] = _selected(
            result, result.selection.named, str(result.selection.target)
        )
    if result.target is not None and result.target.selection is not None:
        found["target_selection.json"] = _selected(result, result.target.selection, "existing")
    return found


def _selected(result: AuditResult, named: TargetSelection, target: str) -> Row:
    """The selected records by their ids, and how they were chosen; numbers unknown are None."""
    chosen = named.selection
    row: Row = {
        "target": int(target) if target.isdigit() else target,
        "alpha": chosen.alpha,
        "estimator": result.estimator,
        "record_ids": result.record_ids[named.selected_records].tolist(),
        "record_is_member": named.selected_members.tolist(),
        "num_candidates": len(named.candidate_records),
        "num_calibration": chosen.num_calibration,
        "non_member_share": chosen.non_member_share,
        "threshold": chosen.threshold,
        "smallest_alpha": chosen.smallest_alpha,
        "false_discovery_proportion": named.false_discovery_proportion,
        "power": named.power,
        "note": named.note,
    }
    floats = {key: value for key, value in row.items() if isinstance(value, float)}
    return row | dict.fromkeys(key for key, value in floats.items() if not isfinite(value))


def arrays(matrix: ScoreMatrix) -> dict[str, np.ndarray]:
    return {"scores/scores.npy": matrix.scores, "scores/members.npy": matrix.members}


def records_parquet(result: AuditResult) -> bytes:
    """`records.parquet`: one row a record, one column a per-record figure and level."""
    import pandas as pd

    columns: dict[str, np.ndarray] = {"record_id": result.record_ids}
    for name, values in result.evaluation.records.items():
        if values.ndim == 1:
            columns[name] = values
            continue
        for alpha, row in zip(result.evaluation.alphas, values, strict=True):
            columns[f"{name}/{alpha:g}"] = row
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer, index=False)
    return buffer.getvalue()


def _headline(result: AuditResult) -> Iterator[tuple[str, float]]:
    for alpha in result.evaluation.alphas:
        point = result.evaluation.point(HEADLINE, alpha)
        yield f"tpr_at_fpr/{alpha:g}", point.tpr
        yield f"tpr_lower/{alpha:g}", point.lower
        yield f"tpr_upper/{alpha:g}", point.upper
        yield f"fpr_achieved/{alpha:g}", point.fpr


def _methods(result: AuditResult) -> Iterator[tuple[str, float]]:
    for point in _all_points(result):
        if point.method != HEADLINE:
            yield f"methods/{point.method}/tpr_at_fpr/{point.alpha:g}", point.tpr
            yield f"methods/{point.method}/fpr_achieved/{point.alpha:g}", point.fpr


def _all_points(result: AuditResult) -> Iterator[OperatingPoint]:
    yield from result.evaluation.points
    yield from result.population
    if result.target is not None:
        yield from result.target.points


def _selection_metrics(result: AuditResult) -> dict[str, float]:
    """Of the chosen level and estimator, averaged over targets."""
    assert result.selection is not None
    alpha, name = result.selection.selection.alpha, result.estimator
    for row in result.selection.curves:
        if row.estimator == name and isclose(row.alpha, alpha):
            return {
                f"selection_fdr/{alpha:g}": row.fdr,
                f"selection_power/{alpha:g}": row.power,
                "selection_non_member_share": row.share_estimate,
            }
    raise AssertionError(f"no curve for {name} at {alpha}")


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
