"""One identification as one MLflow run, kind=identify."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict
from pathlib import Path

from mia_audit import tracking
from mia_audit.identify.cutoffs import CutOff, shown_cutoffs
from mia_audit.identify.direction import direction_statement
from mia_audit.identify.printed import headline
from mia_audit.identify.selecting import Identified
from mia_audit.identify.settings import IdentifyConfig, is_higher_member
from mia_audit.schema import Composed

_MIB = 2**20


def log_identified(
    result: Identified,
    composed: Composed[IdentifyConfig],
    cutoffs: list[CutOff],
    picture: bytes,
) -> tracking.RunLink:
    """Log params, metrics, the cut-offs, the figure and the selection as written."""
    config = composed.settings
    files: dict[str, Path | bytes | str] = {
        "config.yaml": composed.yaml,
        "figures/identified.png": picture,
    }
    written = Path(config.output).expanduser()
    if written.stat().st_size <= config.tracking.max_scores_mb * _MIB:
        files["selection.csv"] = written
    return tracking.log_run(
        config.tracking,
        name=f"identify {result.sources.candidates.file.path.name}",
        params=composed.values,
        metrics=metrics(result),
        tags=_tags(result, config, written),
        tables={"cutoffs.json": [asdict(cut) for cut in shown_cutoffs(cutoffs)]},
        files=files,
        dataset=_dataset(result),
        started=composed.started,
    )


def metrics(result: Identified) -> dict[str, float]:
    """The numbers that MLflow's table of runs can sort by."""
    selection = result.selection
    found = {
        "num_selected": float(selection.indices.size),
        "num_candidates": float(selection.num_candidates),
        "num_calibration": float(selection.num_calibration),
        "member_share": result.member_share,
        "non_member_share": selection.non_member_share,
        "smallest_alpha": selection.smallest_alpha,
        "fdp_bound": result.bound,
        "candidates_auc": result.auc,
        "found_members": result.found_members,
    }
    if result.exchangeability is not None:
        found["covariates_auc"] = result.exchangeability.auc
        found["covariates_p_value"] = result.exchangeability.p_value
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _tags(result: Identified, config: IdentifyConfig, written: Path) -> dict[str, str]:
    said = " ".join([headline(result), *result.warnings])
    return {
        "kind": "identify",
        "dataset": result.sources.candidates.file.path.name,
        "direction": direction_statement(is_higher_member(config)),
        "selection_file": str(written.resolve()),
        "mlflow.note.content": said,
        **tracking.environment(),
    }


def _dataset(result: Identified) -> tracking.DatasetInput:
    file = result.sources.candidates.file
    with file.path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    profile: dict[str, object] = {
        "candidates": len(result.sources.candidates),
        "calibration": len(result.sources.calibration),
    }
    return tracking.DatasetInput(file.path.name, digest, profile, source=str(file.path))
