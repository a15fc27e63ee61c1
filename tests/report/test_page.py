"""The page: complete in itself, names from data escaped, every section there when it should be."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from mia_audit.report import ReportContext, render_report
from tests.report.audits import HOSTILE, context_of, full_figures, full_result, result_of

VOID = {"meta", "link", "img", "line", "br"}


class Reader(HTMLParser):
    """Collects tags, addresses and ids, and checks that tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} has {name}"
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href"):
                self.addresses.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page() -> str:
    result = full_result()
    context = context_of(result, attack="rmia")
    return render_report(result, context, full_figures())


def test_tags_are_closed_and_ids_unique(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))


def test_nothing_is_loaded_and_no_script_runs(page: str) -> None:
    reader = Reader(page)
    assert "script" not in reader.tags
    inside = [a for a in reader.addresses if a.startswith("#")]
    assert {a[1:] for a in inside} <= set(reader.ids)
    assert all(a.startswith("data:") for a in reader.addresses if a not in inside)
    assert "@import" not in page
    assert "url(" not in page


def test_every_section_is_there(page: str) -> None:
    sections = {"results", "roc", "records", "scores", "exposed", "selection", "target",
                "population", "models", "accuracy", "data", "run", "glossary"}  # fmt: skip
    assert sections <= set(Reader(page).ids)
    assert page.count("<img ") == 8
    assert "The claim is refuted" in page
    assert "Attack: rmia" in page


def test_optional_sections_are_left_out() -> None:
    unknown = np.full(32, np.nan)
    result = replace(result_of(), selection=None, train_accuracy=unknown, test_accuracy=unknown,
                     epsilon_measured=float("nan"))  # fmt: skip
    ids = set(Reader(render_report(result, context_of(result), {})).ids)
    assert not ids & {"selection", "target", "population", "accuracy"}


def test_names_from_data_are_escaped() -> None:
    result = result_of()
    hostile = context_of(result, dataset=HOSTILE, attack=HOSTILE)
    names = ("title", "model", "defence", "store_key", "run_link", "command", "config_yaml")
    hostile = replace(hostile, **dict.fromkeys(names, HOSTILE))
    hostile = replace(hostile, devices=(HOSTILE,), versions={HOSTILE: HOSTILE})
    page = render_report(result, hostile, {})
    plain = render_report(result, context_of(result), {})
    assert sorted(Reader(page).tags) == sorted(Reader(plain).tags)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_numbers_on_the_page_are_those_of_the_evaluation(page: str) -> None:
    point = full_result().evaluation.point("post_empirical", 0.01)
    row = re.search(r'<tr class="lead">.*?At a false-positive rate of 0.1%', page, re.S)
    assert row is not None
    assert f"<td>{100 * point.tpr:.2f}%</td>" in page
    assert f"[{100 * point.lower:.2f}, {100 * point.upper:.2f}]" in page


def test_the_population_stands_beside_the_pool(page: str) -> None:
    section = page[page.index('<section id="population">') : page.index('<section id="models">')]
    assert section.count("For the population") == 4  # the heading and one row a level
    assert section.count("Per record, normal") == 3


def test_the_named_records_are_listed_with_their_identity(page: str) -> None:
    result = full_result()
    assert result.selection is not None
    first = result.selection.selected_records[0]
    assert f">{result.record_ids[first]}</td>" in page


def test_exposed_records_come_with_the_half_that_measured_them(page: str) -> None:
    assert "Ranked with one half of the models, measured with the other half." in page
    exposed = full_result().evaluation.exposed
    first = exposed["record"][exposed["alpha"] == 0.01][0]
    assert f'<td class="text">{7000 + first}</td>' in page


def test_context_defaults_render() -> None:
    result = result_of()
    bare = ReportContext("t", "d", "m", "none", "lira", 32, 300, 0)
    assert "Training time" not in render_report(result, bare, {})
