import dataclasses

import numpy as np
import pytest

from mia_audit.simulate import ptdi_ablation
from mia_audit.simulate.ptdi_ablation import AblationRow, checks, simulate_ablation
from mia_audit.simulate.ptdi_figure import draw_ablation
from mia_audit.simulate.settings import PTDIAblation
from mia_audit.stats import Subtraction, select_members

SMALL = PTDIAblation(repeats=12, num_candidates=60)


@pytest.fixture(scope="module")
def rows() -> list[AblationRow]:
    return simulate_ablation(SMALL, seed=2)


def test_one_repeat_is_one_selection() -> None:
    """The first draws of the repeat's generator, selected by `select_members`."""
    settings = PTDIAblation(num_candidates=200)
    fdp, power, share = ptdi_ablation._repeat(settings, 0.5, 0.5, seed=7)["subtraction η=0.1"]
    rng = np.random.default_rng(7)
    candidates = rng.standard_normal(200) + 2 * (np.arange(200) < 100)
    calibration = rng.standard_normal(100)
    chosen = select_members(calibration, candidates, 0.1, estimator=Subtraction(eta=0.1))
    assert chosen.indices.size > 0
    assert fdp == pytest.approx(np.mean(chosen.indices >= 100))
    assert power == pytest.approx(np.mean(np.isin(np.arange(100), chosen.indices)))
    assert share == chosen.non_member_share


def test_every_setting_has_a_row(rows: list[AblationRow]) -> None:
    assert len({(r.estimator, r.member_share, r.ratio) for r in rows}) == len(rows) == 7 * 3 * 10
    assert sorted({row.share_truth for row in rows}) == pytest.approx([0.3, 0.5, 0.7])
    scaled = [r.power for r in rows if r.estimator == "storey"]
    assert np.mean(scaled) > np.mean([r.power for r in rows if r.estimator == "none"])


def test_every_estimator_is_promised_at_every_share(rows: list[AblationRow]) -> None:
    found = checks(SMALL, rows)
    assert len(found) == 7 * 3  # other sizes have no known power
    assert all(check.is_bound for check in found)
    assert all(check.verdict.passed for check in found)


def test_the_worst_ratio_decides(rows: list[AblationRow]) -> None:
    broken = [
        dataclasses.replace(row, fdr=0.2, fdr_tolerance=0.01)
        if (row.estimator, row.member_share, row.ratio) == ("storey", 0.5, 0.4)
        else row
        for row in rows
    ]
    failed = [check for check in checks(SMALL, broken) if not check.verdict.passed]
    assert [check.quantity for check in failed] == ["FDR, storey, π = 0.5"]
    assert failed[0].observed == 0.2


def test_known_powers_are_compared_at_their_own_sizes(rows: list[AblationRow]) -> None:
    names = [check.quantity for check in checks(PTDIAblation(), rows) if not check.is_bound]
    assert names == ["Power, subtraction η=0.05, π = 0.5", "Power, subtraction η=0.05, π = 0.3"]


def test_the_figure_is_a_picture(rows: list[AblationRow]) -> None:
    assert draw_ablation(rows, 0.1).startswith(b"\x89PNG")
