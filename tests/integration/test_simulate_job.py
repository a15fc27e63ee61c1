"""`jobs.simulate` as a user runs it, small, in an empty folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.test_audit_job import artifact, run, runs

pytestmark = pytest.mark.integration

SMALL = [
    "finite_population.repeats=5", "finite_population.num_models=64",
    "finite_population.num_pool=120", "finite_population.num_train=60",
    "finite_population.dimension=30",
    "toy.repeats=5", "toy.num_models=32", "toy.num_records=60",
    "ptdi_ablation.repeats=10", "ptdi_ablation.num_candidates=60",
]  # fmt: skip
SIMULATIONS = ("finite_population", "toy", "ptdi_ablation")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("simulated")
    status, out, err = run(folder, *SMALL, job="simulate")
    assert status == 0, out + err
    return folder, out


def test_prints_expected_beside_observed(simulated: tuple[Path, str]) -> None:
    folder, out = simulated
    for words in (
        "Expected",
        "Observed",
        "±",
        "Verdict",
        "agrees",
        "kept",
        "as expected",
        "mlflow",
    ):
        assert words in out
    assert {path.name for path in folder.iterdir()} == {"mlflow.db", "mlruns"}


def test_one_run_holds_tables_and_figures(simulated: tuple[Path, str]) -> None:
    folder, _ = simulated
    (found,) = runs(folder)
    assert found.data.tags["kind"] == "simulate"
    assert found.data.metrics["num_failed"] == 0
    for simulation in SIMULATIONS:
        table = json.loads(artifact(folder, found, f"{simulation}.json").read_text())
        assert {"quantity", "expected", "observed", "tolerance", "verdict"} <= set(table["columns"])
        assert any(name.startswith(f"{simulation}/") for name in found.data.metrics)
    pictures = {path.name for path in artifact(folder, found, "figures").iterdir()}
    assert pictures == {"finite_population.png", "toy_methods.png", "ptdi_ablation.png"}
    grid = json.loads(artifact(folder, found, "ptdi_ablation_grid.json").read_text())
    assert len(grid["data"]) == 7 * 3 * 10


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "simulation=tea", job="simulate")
    assert (status, len(err.strip().splitlines())) == (2, 1)
    assert "finite_population" in err
    status, _, err = run(tmp_path, "toy.repeats=1", job="simulate")
    assert (status, err.strip()) == (
        2, "toy.repeats=1: at least 5 are needed to know the error of a mean.",
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []
