import io

import pytest
from rich.console import Console

from mia_audit.simulate.checks import Check, Outcome
from mia_audit.simulate.printed import print_outcome, print_summary, summary

GOOD = Check("FDR, subtraction η=0.05, π = 0.5", 0.1, 0.1035, 0.0093, is_bound=True)
BAD = Check("TPR at 1% FPR, d = 1,000", 0.03011, 0.04006, 0.00046)


def printed(*outcomes: Outcome, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    for outcome in outcomes:
        print_outcome(console, outcome)
    print_summary(console, outcomes, "http://127.0.0.1:5000/#/experiments/1/runs/" + "0" * 32)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_expected_stands_beside_observed_at_80_columns() -> None:
    text = printed(Outcome("Title", "What it asks. " * 9, [GOOD, BAD]))
    assert max(map(len, text.splitlines())) <= 80
    rows = {line[:20]: line.split() for line in text.splitlines()}
    assert rows["FDR, subtraction η=0"][-5:] == ["≤", "0.1000", "0.1035", "0.0093", "kept"]
    assert rows["TPR at 1% FPR, d = 1"][-4:] == ["0.03011", "0.04006", "0.00046", "differs"]
    assert "…" not in text


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ([GOOD, GOOD], "All 2 quantities came out as expected."),
        ([GOOD, BAD], f"1 of 2 quantities did not come out as expected: {BAD.quantity}."),
    ],
)
def test_the_summary_names_what_failed(checks: list[Check], says: str) -> None:
    outcome = Outcome("Title", "", checks)
    assert summary([outcome]) == says
    assert outcome.passed == ("All" in says)
