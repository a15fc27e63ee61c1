"""The exit status of a comparison that ran."""

from io import StringIO

import pytest
from rich.console import Console

from mia_audit.compare import job
from mia_audit.compare.comparison import Comparison, compare
from mia_audit.tracking import RunLink, TrackingError
from tests.compare.sweeps import comparison, context, matrices, subject


def show(found: Comparison, link: RunLink | Exception, output: StringIO) -> int:
    """Status of a comparison that was logged, or could not be."""

    def log() -> RunLink:
        if isinstance(link, Exception):
            raise link
        return link

    return job._log_and_show(log, found, context(), Console(file=output, width=80))


@pytest.mark.parametrize(("claimed", "status"), [(None, 0), (50.0, 0), (0.05, 3)])
def test_a_refuted_claim_is_status_three(claimed: float | None, status: int) -> None:
    (leaky,) = matrices((4.0,))
    found = compare([subject("none", leaky), subject("dpsgd", leaky, claimed=claimed)])
    link = RunLink("abc", "1", "http://127.0.0.1:5000/#/experiments/1/runs/abc", "mlflow ui")
    output = StringIO()
    assert show(found, link, output) == status
    assert ("refuted" in output.getvalue()) == (status == 3)
    assert "mlflow ui" in output.getvalue()


def test_a_kept_claim_is_status_zero() -> None:
    link = RunLink("abc", "1", "http://here", "")
    assert show(comparison(), link, StringIO()) == 0


def test_a_tracking_server_lost_meanwhile_costs_no_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = StringIO()
    assert show(comparison(), TrackingError("tracking.uri=http://x does not answer."), output) == 1
    assert "dpsgd" in output.getvalue()
    assert capsys.readouterr().err == "tracking.uri=http://x does not answer.\n"
