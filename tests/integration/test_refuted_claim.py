"""A defence that lies ends a job with status 3, through the real command line, Ray and MLflow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_audit_job import ROOT, runs

pytest.importorskip("opacus")
# `tracking_uri` puts a migrated mlflow.db into the folder, which saves every job making one.
pytestmark = pytest.mark.integration

# Few records, many epochs: what is not noised is learnt by heart.
SMALL = ["dataset=german_credit", "num_records=200", "num_models=64", "model.epochs=40",
         "model.batch=100", "model.learning_rate=0.02", "cluster.num_cpus=1"]  # fmt: skip
COMPARED = "defences=[none,{dpsgd:{epsilon:0.3}}]"
ALONE = ["defence=dpsgd", "defence.epsilon=0.3"]


def run(folder: Path, module: str, *arguments: str) -> tuple[int, str, str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", *module.split(), *arguments, *SMALL],
        cwd=folder, env=env, text=True, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def assert_refuted(folder: Path, job: str, *arguments: str) -> None:
    status, out, err = run(folder, f"tests.defences.unnoised {job}", *arguments)
    assert status == 3, err
    assert "Traceback" not in err
    assert "is refuted" in " ".join(out.split())
    claims = [one for one in runs(folder) if one.data.tags.get("defence", "").startswith("dpsgd")]
    assert [one.info.status for one in claims] == ["FINISHED"]
    assert claims[0].data.metrics["epsilon_measured"] > 0.3


def test_an_audit_of_training_without_its_noise_ends_with_three(
    tmp_path: Path, tracking_uri: str
) -> None:
    assert_refuted(tmp_path, "audit", *ALONE)


@pytest.mark.slow
def test_a_comparison_with_training_without_its_noise_ends_with_three(
    tmp_path: Path, tracking_uri: str
) -> None:
    assert_refuted(tmp_path, "compare", COMPARED)


@pytest.mark.slow
def test_honest_noise_ends_with_zero(tmp_path: Path, tracking_uri: str) -> None:
    status, _, err = run(tmp_path, "jobs.audit", *ALONE)
    assert status == 0, err
    (logged,) = runs(tmp_path)
    assert logged.data.metrics["epsilon_measured"] <= 0.3
