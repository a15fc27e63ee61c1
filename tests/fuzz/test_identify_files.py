"""`jobs.identify` on score files of any content: a selection, or one sentence."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.identify.selecting import identify
from mia_audit.identify.settings import Estimator, IdentifyConfig, Score
from mia_audit.identify.sources import read_sources
from mia_audit.identify.written import write_selection
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told_directly
from tests.fuzz.spoiling import arrays, npy, spoiled
from tests.fuzz.test_tables import CELLS, as_csv, as_parquet, frames, parquet
from tests.identify.files import records

KNOWN, NEW = records(30, prefix="known", seed=1), records(20, prefix="new", members=10, seed=2)
NAMES = st.sampled_from(["id", "score", "length", "token_logprobs", "text", ""])


def csv(frame: pd.DataFrame, separator: str = ",") -> bytes:
    return frame.to_csv(index=False, sep=separator).encode()


def as_lines(rows: list[object]) -> bytes:
    """JSON lines; what JSON cannot say becomes text."""
    return "".join(json.dumps(row, default=str) + "\n" for row in rows).encode(errors="replace")


def texts(size: int, prefix: str) -> list[object]:
    """Records of a language model."""
    return [
        {"id": f"{prefix}{i}", "text": "words " * (i + 1), "token_logprobs": [None, -1.0, -0.1 * i]}
        for i in range(size)
    ]


VALUES = st.one_of(
    CELLS, st.lists(CELLS, max_size=3), st.lists(st.floats(-9, 0), min_size=1, max_size=4)
)
ROWS = st.lists(st.one_of(st.dictionaries(NAMES, VALUES, max_size=4), VALUES), max_size=8)
NAMED = frames().map(lambda frame: frame.rename(columns={"left": "score", "town": "id"}))
ONE_NUMBER_A_LINE = "".join(f"{score}\n" for score in KNOWN["score"]).encode()
Named = tuple[str, bytes]


def sound(frame: pd.DataFrame) -> st.SearchStrategy[Named]:
    """The same scores in every kind of file."""
    as_csv_of = {".csv": csv(frame), ".tsv": csv(frame, "\t"), ".txt": csv(frame, ";")}
    rows = [dict(row) for row in frame.to_dict("records")]
    others = {".parquet": parquet(frame), ".pq": parquet(frame), ".jsonl": as_lines(rows)}
    return st.sampled_from([*as_csv_of.items(), *others.items()])


def damaged(files: st.SearchStrategy[Named]) -> st.SearchStrategy[Named]:
    return files.flatmap(lambda file: st.tuples(st.just(file[0]), spoiled(file[1])))


STRANGE = st.one_of(
    st.tuples(st.just(".csv"), NAMED.map(as_csv) | spoiled(ONE_NUMBER_A_LINE)),
    st.tuples(st.just(".parquet"), NAMED.map(as_parquet)),
    st.tuples(st.sampled_from([".jsonl", ".json"]), ROWS.map(as_lines)),
    st.tuples(st.just(".npy"), arrays().map(npy) | spoiled(npy(np.arange(20.0)))),
)
TEXTS = {prefix: st.just((".jsonl", as_lines(texts(9, prefix)))) for prefix in ("known", "new")}
STRANGE_TEXTS = st.tuples(st.just(".jsonl"), ROWS.map(as_lines))


def some(
    known: st.SearchStrategy[Named], new: st.SearchStrategy[Named], odd: st.SearchStrategy[Named]
) -> st.SearchStrategy[tuple[Named, Named]]:
    """Calibration and candidates, at least one of them not as it should be."""
    return st.one_of(
        st.tuples(known, damaged(new) | odd),
        st.tuples(damaged(known) | odd, new),
        st.tuples(odd, damaged(new)),
    )


SETTINGS = st.builds(
    partial(IdentifyConfig, "", "", output="selected.csv", figure=None),
    estimator=st.sampled_from(Estimator),
    higher_is_member=st.sampled_from([True, False]),
    covariates=st.sampled_from([[], [], ["length"], ["source"], ["id"], ["score"]]),
    id_column=st.sampled_from([None, None, "id", "score", "source"]),
)
SCORED = st.builds(lambda how, score: replace(how, score=score), SETTINGS, st.sampled_from(Score))
INPUTS = st.one_of(
    st.tuples(some(sound(KNOWN), sound(NEW), STRANGE), st.none() | sound(NEW) | STRANGE, SETTINGS),
    st.tuples(some(TEXTS["known"], TEXTS["new"], STRANGE_TEXTS), st.none(), SCORED),
)


def select(config: IdentifyConfig) -> None:
    result = identify(read_sources(config), config)
    write_selection(result, config.output)
    assert len(pd.read_csv(config.output)) == result.selection.num_candidates


def judge(both: tuple[Named, Named], members: Named | None, how: IdentifyConfig) -> None:
    files = {"calibration": both[0], "candidates": both[1]}
    if members is not None:
        files["members"] = members
    if how.score is not None:
        how = replace(how, higher_is_member=None)
    with empty_folder():
        places = {key: f"{key}{ending}" for key, (ending, _) in files.items()}
        for key, place in places.items():
            Path(place).write_bytes(files[key][1])
        before = contents(Path())
        status, errors = told_directly(lambda: select(replace(how, **places)))
        check(status, errors)
        assert not errors or errors.startswith(
            (*(f"{key}=" for key in places), "members:", "covariates:")
        )
        written = contents(Path())
        assert (written.pop("selected.csv", None) is not None) == (status == 0)
        assert written == before


@inputs(IN_CI)
@given(INPUTS)
def test_any_files(given_files: tuple[tuple[Named, Named], Named | None, IdentifyConfig]) -> None:
    judge(*given_files)


@pytest.mark.slow
@inputs(LONG)
@given(INPUTS)
def test_thousands_of_files(
    given_files: tuple[tuple[Named, Named], Named | None, IdentifyConfig],
) -> None:
    judge(*given_files)


@pytest.mark.parametrize("score", [None, Score.perplexity])
def test_sound_files_are_selected_from(score: Score | None) -> None:
    with empty_folder():
        ending, known, new = (
            (".csv", csv(KNOWN), csv(NEW))
            if score is None
            else (".jsonl", as_lines(texts(9, "known")), as_lines(texts(9, "new")))
        )
        Path(f"known{ending}").write_bytes(known)
        Path(f"new{ending}").write_bytes(new)
        higher = True if score is None else None
        config = IdentifyConfig(
            f"known{ending}", f"new{ending}", score=score, higher_is_member=higher
        )
        assert told_directly(lambda: select(config)) == (0, "")
