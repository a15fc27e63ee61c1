"""Scores of JSON lines equal the signals they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mia_audit.identify.reading import read_records
from mia_audit.identify.scoring import NEEDED, score_record
from mia_audit.identify.settings import IdentifyConfig, Score
from mia_audit.stats import signals
from tests.identify.files import write_lines


def record(seed: int = 0, size: int = 30, vocabulary: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(size, vocabulary))
    table = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    tokens = rng.integers(vocabulary, size=size)
    return {
        "id": f"text-{seed}",
        "text": "to be, or not to be",
        "tokens": tokens.tolist(),
        "token_logprobs": table[np.arange(size), tokens].tolist(),
        "token_distributions": table.tolist(),
    }


def test_every_score_is_its_signal() -> None:
    one = record()
    chosen, table = one["token_logprobs"], np.array(one["token_distributions"])
    entropies = signals.modified_entropy(table, np.array(one["tokens"]))
    assert {score: score_record(one, score) for score in Score} == {
        Score.perplexity: signals.perplexity(chosen),
        Score.zlib: signals.zlib_ratio(chosen, one["text"]),
        Score.min_k: signals.min_k(chosen, share=0.2),
        Score.modified_entropy: entropies.mean(),
        Score.renyi_k: signals.renyi_k(table, order=0.5, share=0.1),
    }


@pytest.mark.parametrize("score", list(Score), ids=lambda score: score.value)
def test_a_first_token_without_a_prediction_is_left_out(score: Score) -> None:
    one = record()
    led = {
        **one,
        "tokens": [3, *one["tokens"]],
        "token_logprobs": [None, *one["token_logprobs"]],
        "token_distributions": [None, *one["token_distributions"]],
    }
    assert score_record(led, score) == score_record(one, score)


def test_file_order_and_ids_are_kept(tmp_path: Path) -> None:
    some = [record(seed) for seed in (4, 1, 9)]
    path = write_lines(tmp_path / "texts.jsonl", some)
    found = read_records(
        str(path), "candidates", IdentifyConfig(score=Score.min_k), covariates=False
    )
    assert found.ids is not None
    assert found.ids.tolist() == ["text-4", "text-1", "text-9"]
    assert found.scores.tolist() == [signals.min_k(one["token_logprobs"]) for one in some]


@pytest.mark.parametrize("score", list(Score), ids=lambda score: score.value)
def test_a_missing_field_is_named(tmp_path: Path, score: Score) -> None:
    for field in NEEDED[score]:
        lacking = {**record(1), field: None}
        path = write_lines(tmp_path / "texts.jsonl", [record(), lacking])
        with pytest.raises(ValueError, match=rf"record 2 has no '{field}'.*score={score.value}"):
            read_records(str(path), "candidates", IdentifyConfig(score=score), covariates=False)


@pytest.mark.parametrize("bad", [[0.5, -1.0], ["x"], [], [-1.0, None]])
def test_log_probabilities_that_are_none_are_refused(tmp_path: Path, bad: list[Any]) -> None:
    path = write_lines(tmp_path / "texts.jsonl", [{"id": 1, "token_logprobs": bad}])
    with pytest.raises(ValueError, match=r"^candidates=.*record 1") as told:
        read_records(
            str(path), "candidates", IdentifyConfig(score=Score.perplexity), covariates=False
        )
    assert "\n" not in str(told.value)


def test_only_json_lines_can_be_scored(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("id,text\n1,a\n")
    with pytest.raises(ValueError, match=r"texts.csv: score=zlib is computed from JSON lines"):
        read_records(
            str(tmp_path / "texts.csv"), "candidates", IdentifyConfig(score=Score.zlib),
            covariates=False,
        )  # fmt: skip
