"""Command lines of any content, composed by the real Hydra: a plan, or one sentence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit import tracking
from mia_audit.compare.job import run_compare
from mia_audit.compare.planning import check_keys
from mia_audit.identify.selecting import identify
from mia_audit.identify.sources import read_sources
from mia_audit.job import run_audit, run_training
from mia_audit.preparation import audit_settings, external, external_settings, external_target
from mia_audit.schema import Composed
from mia_audit.simulate.settings import check_settings
from tests.fuzz.lines import lines
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told
from tests.fuzz.test_score_files import MEMBERS, SCORES
from tests.fuzz.test_tables import CSV
from tests.identify.files import records, write


class Way(NamedTuple):
    """How a job goes as far as its checks go, and the line that any words are added to."""

    job: Callable[[Composed[Any]], int]
    line: list[str]


def dry(composed: Composed[Any]) -> Composed[Any]:
    return replace(composed, settings=replace(composed.settings, dry_run=True))


def plan_audit(composed: Composed[Any]) -> int:
    config = composed.settings
    if not config.scores:
        return run_audit(dry(composed))
    matrix, _ = external(config, composed.given)
    external_settings(config, composed.given, matrix)
    external_target(config, matrix)
    tracking.check(config.tracking)
    return 0


def plan_training(composed: Composed[Any]) -> int:
    return run_training(dry(composed))


def plan_comparison(composed: Composed[Any]) -> int:
    if composed.settings.runs is None:
        return run_compare(dry(composed))
    check_keys(composed)
    audit_settings(composed.settings)
    return 0


def select(composed: Composed[Any]) -> int:
    identify(read_sources(composed.settings, composed.given), composed.settings)
    tracking.check(composed.settings.tracking)
    return 0


def check_simulation(composed: Composed[Any]) -> int:
    check_settings(composed.settings)
    tracking.check(composed.settings.tracking)
    return 0


SMALL = ["dataset=german_credit", "num_records=60", "num_models=8"]
TABLE = ["dataset=table", "dataset.path=t.csv", "dataset.target=left", "num_models=8"]
NAMED = ["calibration=known.csv", "candidates=new.csv", "higher_is_member=true"]
WAYS = {
    "audit": Way(plan_audit, SMALL),
    "audit of a table": Way(plan_audit, TABLE),
    "audit of scores": Way(plan_audit, ["scores=given"]),
    "train": Way(plan_training, SMALL),
    "compare": Way(plan_comparison, [*SMALL, "defences=[none,dropout]"]),
    "identify": Way(select, NAMED),
    "simulate": Way(check_simulation, []),
}


def put_files(folder: Path) -> None:
    """What a line may name."""
    (folder / "t.csv").write_bytes(CSV)
    (folder / "given").mkdir()
    (folder / "given/scores.npy").write_bytes(SCORES)
    (folder / "given/members.npy").write_bytes(MEMBERS)
    write(folder / "known.csv", records(30, prefix="known"))
    write(folder / "new.csv", records(20, prefix="new", members=10))


def judge(way: str, words: list[str]) -> None:
    with empty_folder() as folder:
        put_files(folder)
        before = contents(folder)
        check(*told(way.partition(" ")[0], WAYS[way].job, [*WAYS[way].line, *words]))
        assert contents(folder) == before


def draw(data: st.DataObject, way: str) -> list[str]:
    return data.draw(lines(way.partition(" ")[0]))


@pytest.mark.parametrize("way", WAYS)
def test_the_line_alone_is_sound(way: str) -> None:
    with empty_folder() as folder:
        put_files(folder)
        status, errors = told(way.partition(" ")[0], WAYS[way].job, WAYS[way].line)
        assert (status, errors) == (0, "")


@pytest.mark.parametrize("way", WAYS)
@inputs(IN_CI // 2)
@given(st.data())
def test_any_line(way: str, data: st.DataObject) -> None:
    judge(way, draw(data, way))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@inputs(LONG // 5)
@given(st.data())
def test_thousands_of_lines(way: str, data: st.DataObject) -> None:
    judge(way, draw(data, way))
