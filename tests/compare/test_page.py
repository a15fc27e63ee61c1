"""The page and the pictures of a comparison."""

from dataclasses import replace
from functools import cache

import pytest

from mia_audit.compare.comparison import compare
from mia_audit.compare.figures import colours_of, draw_comparison
from mia_audit.compare.page import render_comparison
from tests.compare.sweeps import comparison, context, matrices, subject, subjects
from tests.report.audits import HOSTILE

NAMES = {"trade_off", "rates", "differences", "records"}


@cache
def figures() -> dict[str, bytes]:
    return draw_comparison(comparison())


def test_every_picture_is_drawn_and_shown() -> None:
    assert set(figures()) == NAMES
    page = render_comparison(comparison(), context(), figures())
    for name in NAMES:
        assert figures()[name].startswith(b"\x89PNG")
        assert f'id="figure-{name}"' in page


def test_the_page_has_every_defence_level_and_attacker() -> None:
    page = render_comparison(comparison(), context(), figures())
    for row in comparison().rows:
        broken = f"</span>{row.label.replace('(', '<wbr>(')}"  # a narrow table may break there
        assert page.count(broken) == len(row.levels)
        assert page.count(f">{row.label}</td>") >= 3
        assert row.attacker in page
    for words in ("At a false-positive rate of 0.1%", "Pareto front", "Unpaired interval"):
        assert words in page


def test_a_caution_names_its_row() -> None:
    first, second, *_ = comparison().rows
    evaluation = replace(second.result.evaluation, floored_share=0.5, nan_entries=7)
    saturated = replace(second, result=replace(second.result, evaluation=evaluation))
    page = render_comparison(replace(comparison(), rows=[first, saturated]), context(), {})
    assert "<dt>dpsgd(epsilon=1)</dt><dd>50.0% of the scores do not vary" in page
    assert "What to mind in single rows" in page


def test_names_are_escaped() -> None:
    hostile = replace(subjects()[1], label=HOSTILE)
    found = compare([subjects()[0], hostile])
    page = render_comparison(found, replace(context(), dataset=HOSTILE), {})
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_what_is_unknown_is_left_out() -> None:
    alone = compare([subject("none", matrices((1.0,))[0])])
    assert set(draw_comparison(alone)) == NAMES - {"differences"}
    assert "differences" not in draw_comparison(alone)
    render_comparison(alone, context(), draw_comparison(alone))


def test_unpaired_comparisons_carry_a_warning() -> None:
    found = compare(subjects()[:2], is_paired=False)
    page = render_comparison(found, context(), {})
    assert "independent sweeps" in page
    assert "Unpaired interval" not in page


def test_one_colour_a_kind_of_defence() -> None:
    labels = ["none", "dpsgd(epsilon=1)", "dropout", "dpsgd(epsilon=8)"]
    rows = [replace(comparison().rows[0], label=label) for label in labels]
    colours = colours_of(rows)
    assert colours[1] == colours[3]
    assert len(set(colours)) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.integration
def test_the_page_is_quiet_and_fits(
    chromium: object, tmp_path: object, width: int, scheme: str
) -> None:
    path = tmp_path / "report.html"  # type: ignore[operator]
    path.write_text(render_comparison(comparison(), context(), figures()), encoding="utf-8")
    page = chromium.new_page(  # type: ignore[attr-defined]
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.scripts.length") == 0
    if width == 1200:
        cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        assert page.evaluate(f"{cut}.length") == 0
    page.close()
