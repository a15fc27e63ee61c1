"""`jobs.identify` as a user runs it: real Hydra and MLflow, in a folder with the files alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

from tests.identify.files import records, write, write_lines
from tests.integration.identify_command import run

FILES = ["calibration=calibration.csv", "candidates=candidates.csv"]

pytestmark = pytest.mark.integration


def fill(folder: Path) -> None:
    write(folder / "calibration.csv", records(300, prefix="known", seed=1))
    write(folder / "candidates.csv", records(200, prefix="new", members=100, seed=2))


def test_selects_writes_prints_and_logs_one_run(tmp_path: Path) -> None:
    fill(tmp_path)
    status, out, err = run(tmp_path, *FILES, "higher_is_member=true", "covariates=[length,source]")
    assert (status, err) == (0, "")
    assert "selected as training data" in out
    assert "a higher score counts as more likely trained on" in out
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"calibration.csv", "candidates.csv", "mia_identified.csv",
                     "mia_identified.png", "mlflow.db", "mlruns"}  # fmt: skip
    table = pd.read_csv(tmp_path / "mia_identified.csv")
    candidates = pd.read_csv(tmp_path / "candidates.csv")
    assert table.id.tolist() == candidates.id.tolist()
    members = np.arange(200) < 100
    assert table.selected[members].mean() > 0.6
    assert table.selected[~members].mean() < 0.25
    _check_run(tmp_path, int(table.selected.sum()))


def _check_run(folder: Path, num_selected: int) -> None:
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiment = client.get_experiment_by_name("mia_audit")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    assert len(found) == 1
    logged = found[0]
    assert logged.info.status == "FINISHED"
    assert logged.data.tags["kind"] == "identify"
    assert logged.data.tags["direction"].startswith("a higher score")
    assert logged.data.params["alpha"] == "0.1"
    assert logged.data.metrics["num_selected"] == num_selected
    names = {file.path for file in client.list_artifacts(logged.info.run_id)}
    assert names == {"config.yaml", "cutoffs.json", "figures", "selection.csv"}
    assert logged.inputs is not None
    assert logged.inputs.dataset_inputs[0].dataset.name == "candidates.csv"


def test_every_kind_of_file_selects_the_same(tmp_path: Path) -> None:
    fill(tmp_path)
    selected = []
    for kind in (".parquet", ".jsonl", ".npy"):
        for name in ("calibration", "candidates"):
            write(tmp_path / f"{name}{kind}", pd.read_csv(tmp_path / f"{name}.csv"))
        status, _, err = run(
            tmp_path, f"calibration=calibration{kind}", f"candidates=candidates{kind}",
            "higher_is_member=true", "figure=null", f"output=out{kind}.csv",
        )  # fmt: skip
        assert status == 0, err
        selected.append(pd.read_csv(tmp_path / f"out{kind}.csv").selected)
    assert selected[0].sum() > 50
    assert all(other.equals(selected[0]) for other in selected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["higher_is_member", "false", "true"]),
        (["higher_is_member=true", "column=scor"], ["'scor'", "'score'"]),
        (["higher_is_member=true", "column=source"], ["'source' holds", "number"]),
        (
            ["higher_is_member=true", "candidates=candidate.csv"],
            ["candidate.csv", "candidates.csv"],
        ),
        (["higher_is_member=true", "candidates=calibration.csv"], ["share 300 ids"]),
        (["higher_is_member=true", "candidates=nan.csv"], ["nan.csv", "no number at 1"]),
        (["higher_is_member=true", "candidates=empty.csv"], ["empty.csv", "is empty"]),
        (["higher_is_member=true", "candidates=kind.xyz"], ["kind.xyz", "unknown kind"]),
        (["higher_is_member=true", "output=absent/x.csv"], ["output", "absent"]),
        (["higher_is_member=true", "tracking.uri=sqlite:////proc/x/y.db"], ["tracking.uri"]),
        (["higher_is_member=true", "estimator=moments"], ["estimator", "moment"]),
        (["higher_is_member=true", "alfa=0.2"], ["alfa", "alpha"]),
        (["score=perplexity"], ["score=perplexity", "JSON lines"]),
    ],
    ids=lambda value: value[-1] if value and "=" in value[-1] else "",
)
def test_a_mistake_is_one_sentence_and_writes_nothing(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    fill(tmp_path)
    (tmp_path / "nan.csv").write_text("id,score\na,1\nb,\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "kind.xyz").write_text("1\n")
    before = {path.name for path in tmp_path.iterdir()}
    given = {argument.split("=")[0] for argument in arguments}
    files = [argument for argument in FILES if argument.split("=")[0] not in given]
    status, out, err = run(tmp_path, *files, *arguments)
    assert (status, out) == (2, ""), err
    assert len(err.strip().splitlines()) == 1, err
    for word in words:
        assert word in err
    assert {path.name for path in tmp_path.iterdir()} == before


def test_without_files_the_key_is_named(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "candidates=x.csv", "higher_is_member=true")
    assert status == 2
    assert err.startswith("calibration: must be given")


def test_scores_are_computed_from_token_log_probabilities(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name, size, members in (("calibration", 200, 0), ("candidates", 200, 100)):
        lines = [
            {"id": f"{name}{i}", "text": "words " * 5,
             "token_logprobs": [None, *(-rng.gamma(1.0 if i < members else 3.0, size=20)).tolist()]}
            for i in range(size)
        ]  # fmt: skip
        write_lines(tmp_path / f"{name}.jsonl", lines)
    status, out, err = run(
        tmp_path, "calibration=calibration.jsonl", "candidates=candidates.jsonl", "score=min_k"
    )
    assert status == 0, err
    assert "score min_k: a higher score counts as more likely trained on" in out
    table = pd.read_csv(tmp_path / "mia_identified.csv")
    assert table.selected[:100].mean() > 0.9
