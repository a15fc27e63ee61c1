"""Every recipe of the README runs, made small; its other commands are run by .ci/run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = r"<!-- {} -->\n```\w+\n(.*?)```"
RECIPES = [
    line
    for block in re.findall(BLOCK.format("recipe"), README, re.S)
    for line in block.splitlines()
]
NUM_RECORDS = 300

pytestmark = pytest.mark.integration


def small(command: str) -> list[str]:
    """The recipe's own words, then what makes it quick and it does not say itself."""
    words = shlex.split(command)
    assert words[0] == "python"
    given = {word.partition("=")[0] for word in words}
    if {"jobs.identify", "jobs.store"} & set(words):
        return [sys.executable, *words[1:]]
    if "jobs.simulate" in words:
        tiny = ["finite_population.repeats=5", "finite_population.num_models=64"]
        return [sys.executable, *words[1:], *tiny]
    added = {"num_records": str(NUM_RECORDS), "num_models": "16", "cluster.num_cpus": "2"}
    if "model" not in given and "tabpfn" not in command:
        added["model.epochs"] = "2"
    if "scores" in given:
        added = {}
    if "dataset.path" in given:
        added["num_records"] = "null"
    extra = [f"{key}={value}" for key, value in added.items() if key not in given]
    return [sys.executable, *words[1:], *extra]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the recipes name."""
    folder = tmp_path_factory.mktemp("readme")
    rng = np.random.default_rng(1)
    people = {"age": rng.integers(18, 80, 200), "town": rng.choice(["Ulm", "Århus", "Nice"], 200)}
    pd.DataFrame({**people, "left": rng.choice(["yes", "no"], 200)}).to_csv(
        folder / "people.csv", index=False
    )
    np.save(folder / "target_scores.npy", rng.standard_normal(NUM_RECORDS))
    np.save(folder / "target_members.npy", rng.random(NUM_RECORDS) < 0.5)
    losses = pd.DataFrame({"id": range(400), "score": rng.standard_normal(400)})
    losses[:200].to_csv(folder / "unseen.csv", index=False)
    losses[200:].to_csv(folder / "candidates.csv", index=False)
    (folder / "my_scores").mkdir()
    np.save(folder / "my_scores" / "scores.npy", rng.standard_normal((16, 100)))
    np.save(folder / "my_scores" / "members.npy", rng.random((16, 100)) < 0.5)
    return folder


def test_there_are_recipes() -> None:
    assert len(RECIPES) >= 10


@pytest.mark.parametrize("command", RECIPES)
def test_recipe_runs(command: str, folder: Path) -> None:
    done = subprocess.run(
        small(command), cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_no_block_is_empty() -> None:
    assert re.search(r"<!-- output: audit -->\n```text\n.*?Calibrated", README, re.S)
    assert all(block.strip() for block in re.findall(r"```\w+\n(.*?)```", README, re.S))


def test_files_and_links_exist() -> None:
    for name in re.findall(
        r"\]\((?!https?:)([^)#]+)\)|`((?:mia_audit|tests|conf)/[\w./-]+)`", README
    ):
        path = name[0] or name[1]
        assert (ROOT / path).exists(), path
