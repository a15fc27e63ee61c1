"""The exit status of a comparison that ran."""

from io import StringIO

import pytest
from rich.console import Console

from mia_audit.compare import job
from mia_audit.compare.comparison import compare
from mia_audit.tracking import RunLink
from tests.compare.sweeps import comparison, context, matrices, subject


@pytest.mark.parametrize(("claimed", "status"), [(None, 0), (50.0, 0), (0.05, 3)])
def test_a_refuted_claim_is_status_three(claimed: float | None, status: int) -> None:
    (leaky,) = matrices((4.0,))
    found = compare([subject("none", leaky), subject("dpsgd", leaky, claimed=claimed)])
    link = RunLink("abc", "1", "http://127.0.0.1:5000/#/experiments/1/runs/abc", "mlflow ui")
    output = StringIO()
    assert job._show(found, context(), link, Console(file=output, width=80)) == status
    assert ("refuted" in output.getvalue()) == (status == 3)
    assert "mlflow ui" in output.getvalue()


def test_a_kept_claim_is_status_zero() -> None:
    link = RunLink("abc", "1", "http://here", "")
    assert job._show(comparison(), context(), link, Console(file=StringIO(), width=80)) == 0
