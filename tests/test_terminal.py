"""What the audit prints, recorded at 80 and at 200 columns."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from mia_audit.audit import AuditResult
from mia_audit.terminal import print_audit
from tests.report.audits import context_of, full_result, result_of


def printed(
    result: AuditResult, width: int, *, attack: str = "lira", terminal: bool = False
) -> str:
    output = StringIO()
    console = Console(file=output, width=width, force_terminal=terminal)
    print_audit(console, result, context_of(result, attack=attack))
    return output.getvalue()


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_cut_or_too_long(width: int) -> None:
    text = printed(full_result(), width, attack="calibrated_loss")
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [80, 200])
def test_every_main_row_is_printed_whole(width: int) -> None:
    result = full_result()
    lines = printed(result, width, attack="rmia").splitlines()
    for method, name in (("post_empirical", "Calibrated (headline)"), ("naive", "Naive LiRA"),
                         ("attack", "Attack: rmia"), ("per_record", "Per record ")):  # fmt: skip
        points = [result.evaluation.point(method, alpha) for alpha in (0.1, 0.01, 0.001)]
        rows = [line for line in lines if name in line]
        assert len(rows) == len(points)
        for row, point in zip(rows, points, strict=True):
            shown = f"{100 * point.tpr:.2f}"[:3] if np.isfinite(point.tpr) else "–"
            assert shown in row


def test_no_colour_codes_when_not_a_terminal() -> None:
    assert "\x1b[" not in printed(result_of(), 80)
    assert "\x1b[" in printed(result_of(), 80, terminal=True)


def test_footnotes_stand_under_the_table() -> None:
    text = printed(result_of(), 80)
    assert "needs M ≥ 10000" not in text.split("(1) ")[0]
    assert "Needs M ≥ 10000." in text


def test_the_lines_below_say_where_everything_is() -> None:
    text = printed(result_of(), 200)
    for expected in ("test 85.0%, train 90.0% (mean of 32 models)", "mia_report.html",
                     "http://127.0.0.1:5000/#/experiments/1/runs/abc", "at least 0.5",
                     "At a false-positive rate of 1% on every record", "times chance"):  # fmt: skip
        assert expected in text


def test_an_existing_model_and_the_population_are_reported() -> None:
    text = printed(full_result(), 200)
    assert "The existing model" in text
    assert "candidates of the existing model named" in text
    assert "20.0% at 10%, 2.0% at 1%, 0.20% at 0.1% (TPR at FPR" in text


def test_a_long_address_is_folded_not_cut() -> None:
    result = result_of()
    address = "http://tracking.example/" + "x" * 120
    output = StringIO()
    print_audit(
        Console(file=output, width=80), result, replace(context_of(result), run_link=address)
    )
    assert address in "".join(line.strip() for line in output.getvalue().splitlines())


def test_unknown_accuracy_and_absent_selection_are_not_mentioned() -> None:
    unknown = np.full(32, np.nan)
    result = replace(result_of(), selection=None, train_accuracy=unknown, test_accuracy=unknown,
                     epsilon_measured=float("nan"))  # fmt: skip
    text = printed(result, 80)
    assert not any(word in text for word in ("Accuracy", "Selection", "Epsilon"))


def test_markup_in_names_is_printed_as_it_is() -> None:
    result = result_of()
    output = StringIO()
    context = replace(context_of(result), dataset="[red]table[/red]")
    print_audit(Console(file=output, width=120), result, context)
    assert "[red]table[/red]" in output.getvalue()
