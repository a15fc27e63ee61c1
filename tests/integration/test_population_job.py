"""The population correction through the real job: further models trained, their share used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mia_audit import config
from mia_audit.job import run_audit
from mia_audit.stats.population import population_points
from tests.integration.test_audit_job import artifact, run, runs

SMALL = ["num_models=16", "num_records=200", "model.epochs=2", "cluster.num_cpus=1",
         "population_correction=true", "population.models=8"]  # fmt: skip

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("noise", "plans"), [("seeds", 1), pytest.param("frames", 2, marks=pytest.mark.slow)]
)
def test_further_models_are_trained_and_their_share_is_used(
    tmp_path: Path, noise: str, plans: int
) -> None:
    status, out, err = run(tmp_path, *SMALL, f"population.noise={noise}")
    assert status == 0, err
    assert out.count("8 more for the share of training noise: 0 in the store, 8 to train") == plans
    found = runs(tmp_path)[0]
    shares = [found.data.metrics[f"noise_share/{kind}"] for kind in ("in", "out")]
    assert all(0 <= share <= 1 for share in shares)
    expected = population_points(
        np.load(artifact(tmp_path, found, "scores/scores.npy")),
        members := np.load(artifact(tmp_path, found, "scores/members.npy")),
        alphas=(0.1,),
        num_train=float(members.sum(axis=1).mean()),
        noise_share=(shares[0], shares[1]),
    )
    logged = found.data.metrics["methods/population/tpr_at_fpr/0.1"]
    assert logged == pytest.approx(expected[0].tpr)
    page = (tmp_path / "mia_report.html").read_text(encoding="utf-8")
    source = {"seeds": "two seeds on each of 8 training sets", "frames": "8 models on each of two"}
    assert source[noise] in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["population.noise=seeds"], "population.noise=seeds: is for the population correction"),
        (["population.noise=seeds", "population_correction=true", "population.models=2"],
         "population.models=2"),
        (["population.noise=frames", "population_correction=true", "fraction=0.9"],
         "population.noise=frames: training sets of 3,600"),
        (["population.noise=seeds", "scores=here"], "population: cannot be combined with scores"),
    ],
)  # fmt: skip
def test_a_mistake_ends_before_any_work(
    tmp_path: Path,
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert config.run("audit", run_audit, arguments) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
