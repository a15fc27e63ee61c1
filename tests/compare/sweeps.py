"""Small sweeps of made-up defences on one design, with known effects."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from mia_audit.attacks import LiRA
from mia_audit.audit import AuditSettings
from mia_audit.compare.comparison import Comparison, Subject, compare
from mia_audit.compare.words import attacker_sentence
from mia_audit.report.context import ReportContext
from mia_audit.score_matrix import ScoreMatrix

SHIFTS = {"none": 1.5, "dpsgd(epsilon=1)": 0.1, "dropout": 1.4, "mixup(alpha=0.2)": 1.0}
ACCURACY = {"none": 0.85, "dpsgd(epsilon=1)": 0.80, "dropout": 0.86, "mixup(alpha=0.2)": 0.84}


def matrices(
    shifts: tuple[float, ...], *, num_models: int = 32, num_records: int = 300, seed: int = 0
) -> list[ScoreMatrix]:
    """One sweep a shift, all with the same members, records and most of the noise."""
    rng = np.random.default_rng(seed)
    shape = (num_models, num_records)
    members = rng.random(shape) < 0.5
    shared, effect = rng.standard_normal(shape), rng.exponential(1, num_records)
    accuracy = rng.normal(0, 0.01, num_models)
    found = []
    for shift in shifts:
        noise = 0.9 * shared + 0.436 * rng.standard_normal(shape)
        matrix = ScoreMatrix.external(
            (noise + shift * effect * members).astype(np.float32), members
        )
        own = (accuracy + rng.normal(0, 0.001, num_models)).astype(np.float32)
        found.append(
            replace(matrix, train_accuracy=own + 0.9, test_accuracy=own + 0.8, seconds=10.0)
        )
    return found


def subject(label: str, matrix: ScoreMatrix, *, claimed: float | None = None) -> Subject:
    settings = AuditSettings(attack=LiRA(), alphas=(0.1, 0.01, 0.001), claimed_epsilon=claimed)
    return Subject(label, matrix, settings, attacker_sentence(label))


def subjects() -> list[Subject]:
    found = []
    for (label, accuracy), matrix in zip(
        ACCURACY.items(), matrices(tuple(SHIFTS.values())), strict=True
    ):
        matrix = replace(
            matrix,
            test_accuracy=matrix.test_accuracy + np.float32(accuracy - 0.8),
            seconds=10.0 if label == "none" else 25.0,
        )
        claimed = 1.0 if label.startswith("dpsgd") else None
        found.append(subject(label, matrix, claimed=claimed))
    return found


@cache
def comparison() -> Comparison:
    return compare(subjects())


def context() -> ReportContext:
    return ReportContext(
        title="Defences of mlp on adult, compared",
        dataset="adult",
        model="mlp",
        defence="",
        attack="lira",
        num_models=32,
        num_records=300,
        seed=0,
        notes=("columns were encoded",),
        config_yaml="num_models: 32\n",
        run_link="http://127.0.0.1:5000/#/experiments/1/runs/abc",
        report_path="mia_report.html",
        command="python -m jobs.compare defences=[none,dropout]",
    )
