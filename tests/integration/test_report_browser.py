"""The report in a real browser: quiet, complete, and never wider than the window."""

from pathlib import Path
from typing import Any

import pytest

from mia_audit.report import render_report
from tests.report.audits import HOSTILE, context_of, full_figures, full_result

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    result = full_result()
    context = context_of(result, dataset=HOSTILE, attack="rmia")
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report(result, context, full_figures()), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_and_fits(chromium: Any, address: str, width: int, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [address]
    sizes = page.evaluate(
        "[...document.images].map(i => [i.complete, i.naturalWidth, i.naturalHeight])"
    )
    assert len(sizes) == 8
    assert all(complete and wide > 0 and high > 0 for complete, wide, high in sizes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.scripts.length") == 0
    page.close()


def test_a_hostile_name_is_shown_as_text(chromium: Any, address: str) -> None:
    page = chromium.new_page()
    page.goto(address)
    assert HOSTILE in page.inner_text("h1")
    assert page.locator("img[src='x']").count() == 0
    page.close()


def test_the_main_table_is_not_cut_on_a_desktop(chromium: Any, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.goto(address)
    inner, outer = page.evaluate(
        "(e => [e.scrollWidth, e.clientWidth])(document.querySelector('#results .scroll'))"
    )
    assert inner <= outer
    page.close()
