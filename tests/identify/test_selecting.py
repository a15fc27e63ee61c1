"""A selection is what the statistics say, whatever the direction of the score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mia_audit.identify.selecting import Identified, identify, share_estimator
from mia_audit.identify.settings import Estimator, IdentifyConfig
from mia_audit.identify.sources import read_sources
from mia_audit.stats import (
    JackknifeBeta,
    Moment,
    NoScaling,
    Storey,
    Subtraction,
    conformal_p_values,
    select_members,
)
from tests.identify.files import records, write, written


def run(config: IdentifyConfig) -> Identified:
    return identify(read_sources(config), config)


def test_equals_the_statistics_on_the_same_scores(tmp_path: Path) -> None:
    config = written(tmp_path, alpha=0.2)
    result = run(config)
    calibration = pd.read_csv(config.calibration).score
    candidates = pd.read_csv(config.candidates).score
    expected = select_members(calibration, candidates, 0.2)
    np.testing.assert_array_equal(result.selection.indices, expected.indices)
    np.testing.assert_array_equal(
        result.selection.p_values, conformal_p_values(calibration, candidates)
    )
    assert 60 < expected.indices.size < 140
    assert np.array_equal(np.flatnonzero(result.is_selected), expected.indices)
    assert result.warnings == ()


def test_a_lower_score_may_mean_member(tmp_path: Path) -> None:
    straight = run(written(tmp_path))
    for name in ("calibration", "candidates"):
        frame = pd.read_csv(tmp_path / f"{name}.csv")
        write(tmp_path / f"{name}.parquet", frame.assign(score=-frame.score))
    config = written(
        tmp_path, calibration=str(tmp_path / "calibration.parquet"),
        candidates=str(tmp_path / "candidates.parquet"), higher_is_member=False,
    )  # fmt: skip
    turned = run(config)
    np.testing.assert_array_equal(turned.selection.indices, straight.selection.indices)
    np.testing.assert_array_equal(turned.bounds, straight.bounds)


def test_the_wrong_direction_is_warned_of_with_the_remedy(tmp_path: Path) -> None:
    result = run(written(tmp_path, higher_is_member=False))
    assert "set higher_is_member=true" in result.warnings[0]
    assert result.selection.indices.size == 0
    assert result.auc < 0.4


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (Estimator.subtraction, Subtraction),
        (Estimator.storey, Storey),
        (Estimator.none, NoScaling),
        (Estimator.moment, Moment),
        (Estimator.jackknife_beta, JackknifeBeta),
    ],
)
def test_every_estimator_is_the_one_named(estimator: Estimator, kind: type) -> None:
    assert isinstance(share_estimator(IdentifyConfig(estimator=estimator), np.ones(5)), kind)


def test_eta_reaches_the_estimators_that_read_a_tail() -> None:
    for estimator in (Estimator.subtraction, Estimator.moment):
        chosen = share_estimator(IdentifyConfig(estimator=estimator, eta=0.3), np.ones(5))
        assert chosen.eta == 0.3  # type: ignore[attr-defined]


def test_confirmed_members_are_used_and_their_share_found_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "members.csv", records(80, prefix="m", members=80, seed=9))
    plain = run(written(tmp_path))
    told = run(written(tmp_path, members=str(tmp_path / "members.csv"), estimator=Estimator.moment))
    assert told.selection.non_member_share != plain.selection.non_member_share
    assert told.found_members > 0.5
    assert np.isnan(plain.found_members)


def test_members_that_look_unlike_members_are_warned_of(tmp_path: Path) -> None:
    low = records(80, prefix="m", seed=9)
    write(tmp_path / "members.csv", low.assign(score=low.score - 3))
    result = run(written(tmp_path, members=str(tmp_path / "members.csv")))
    assert "confirmed members look LESS" in result.warnings[0]


def test_jackknife_says_that_it_is_not_conservative(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    result = run(written(tmp_path, estimator=Estimator.jackknife_beta))
    assert "not conservative" in result.selection.note
    assert not recwarn.list


def test_covariates_that_tell_the_files_apart_are_warned_of(tmp_path: Path) -> None:
    config = written(tmp_path, covariates=["length", "source"])
    assert run(config).warnings == ()
    frame = pd.read_csv(config.candidates)
    write(Path(config.candidates), frame.assign(length=frame.length + 80))
    result = run(config)
    assert "told apart by length, source" in result.warnings[0]
    assert result.exchangeability is not None


def test_the_selections_bound_is_that_of_its_largest_p_value(tmp_path: Path) -> None:
    result = run(written(tmp_path))
    chosen = result.selection.indices
    last = chosen[np.argmax(result.selection.p_values[chosen])]
    assert result.bound == result.bounds[last]
    assert result.bound < 0.5
    nothing = run(written(tmp_path, alpha=0.0001))
    assert np.isnan(nothing.bound)
