"""From text to selection: a language model is trained on half of a play, its token probabilities
are dumped, and `jobs.identify` finds what it was trained on.

The text is the spoken lines of Shakespeare's Hamlet, acts I and II, which are in the public domain.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mia_audit.identify.reading import Records, read_records
from mia_audit.identify.selecting import identify
from mia_audit.identify.settings import IdentifyConfig, Score
from mia_audit.identify.sources import Sources
from tests.integration.identify_command import run
from tests.integration.text_model import CharacterModel, passages, write_records

ALPHA = 0.2
NUM_MODELS, NUM_SPLITS = 10, 10

pytestmark = [pytest.mark.slow, pytest.mark.integration]


class Trained:
    """A model trained on half of the passages, chosen by `seed`, and splits of all of them.

    Of the passages it was not trained on half calibrate and half are candidates, beside as many
    that it was trained on.
    """

    def __init__(self, seed: int) -> None:
        self.texts = {f"passage-{i:03d}": text for i, text in enumerate(passages())}
        self.rng = np.random.default_rng(seed)
        order = self.rng.permutation(list(self.texts))
        self.inside, self.outside = np.array_split(order, 2)
        alphabet = "".join(sorted(set("".join(self.texts.values()))))
        model = CharacterModel(alphabet, order=5, strength=3.0)
        self.model = model.train(self.texts[name] for name in self.inside)

    def split(self) -> tuple[list[str], list[str], set[str]]:
        """Ids of calibration passages, of candidates, and of the members among those."""
        calibration, others = np.array_split(self.rng.permutation(self.outside), 2)
        members = self.rng.permutation(self.inside)[: len(others)]
        candidates = self.rng.permutation([*members, *others])
        return calibration.tolist(), candidates.tolist(), set(members.tolist())

    def write(self, path: Path, names: list[str]) -> None:
        write_records(path, self.model, {name: self.texts[name] for name in names})


def taken(records: Records, names: list[str]) -> Records:
    """The records of these ids."""
    assert records.ids is not None
    rows = pd.Index(records.ids).get_indexer(pd.Index(names))
    return replace(
        records, scores=records.scores[rows], covariates=records.covariates.iloc[rows],
        ids=records.ids.iloc[rows].reset_index(drop=True),
    )  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[Score, np.ndarray]:
    """(false discovery proportion, power) by score, [models, splits, 2] each."""
    found = {score: np.empty((NUM_MODELS, NUM_SPLITS, 2)) for score in Score}
    for seed in range(NUM_MODELS):
        trained = Trained(seed)
        path = tmp_path_factory.mktemp("texts") / "all.jsonl"
        trained.write(path, list(trained.texts))
        splits = [trained.split() for _ in range(NUM_SPLITS)]
        for score in Score:
            config = IdentifyConfig(alpha=ALPHA, score=score)
            records = read_records(str(path), "candidates", config, covariates=False)
            for i, (calibration, candidates, members) in enumerate(splits):
                sources = Sources(taken(records, calibration), taken(records, candidates), None)
                chosen = np.array(candidates)[identify(sources, config).is_selected]
                right = len(members.intersection(chosen))
                wrong = (len(chosen) - right) / max(1, len(chosen))
                found[score][seed, i] = wrong, right / len(members)
    return found


@pytest.mark.parametrize("score", list(Score), ids=lambda score: score.value)
def test_false_discoveries_stay_below_the_level(
    outcomes: dict[Score, np.ndarray], score: Score, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error comes from models, since splits under one model share its scores."""
    wrong, power = outcomes[score].mean(axis=1).T
    error = wrong.std(ddof=1) / np.sqrt(NUM_MODELS)
    with capsys.disabled():
        print(f"\n{score.value}: FDR {wrong.mean():.3f} ± {error:.3f} at {ALPHA},"
              f" power {power.mean():.2f}")  # fmt: skip
    assert wrong.mean() <= ALPHA + 3 * error
    assert power.mean() > 0.5


@pytest.mark.parametrize("score", list(Score), ids=lambda score: score.value)
def test_the_command_finds_what_the_model_was_trained_on(tmp_path: Path, score: Score) -> None:
    trained = Trained(seed=0)
    calibration, candidates, members = trained.split()
    trained.write(tmp_path / "calibration.jsonl", calibration)
    trained.write(tmp_path / "candidates.jsonl", candidates)
    status, out, err = run(
        tmp_path, "calibration=calibration.jsonl", "candidates=candidates.jsonl",
        f"score={score.value}", f"alpha={ALPHA}",
    )  # fmt: skip
    assert status == 0, err
    assert f"score {score.value}: a higher score counts as more likely trained on" in out
    table = pd.read_csv(tmp_path / "mia_identified.csv")
    chosen = table.id[table.selected]
    assert table.id.tolist() == candidates
    assert chosen.isin(members).mean() > 0.6
    assert len(members.intersection(chosen)) > 0.3 * len(members)
