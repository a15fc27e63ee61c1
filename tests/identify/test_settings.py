"""What is refused before any file is opened, and what `conf/identify.yaml` says."""

from __future__ import annotations

from typing import Any

import pytest

from mia_audit import config
from mia_audit.identify.settings import (
    Estimator,
    IdentifyConfig,
    Score,
    check_settings,
    is_higher_member,
)

FILES = ["calibration=a.csv", "candidates=b.csv"]


def test_defaults_are_those_of_the_yaml() -> None:
    composed = config.compose("identify", FILES).settings
    assert composed == IdentifyConfig(calibration="a.csv", candidates="b.csv")


def test_the_direction_must_be_told_unless_it_is_known() -> None:
    with pytest.raises(ValueError, match=r"^higher_is_member: must be given.*'loss'.*false"):
        check_settings(IdentifyConfig(column="loss"))
    check_settings(IdentifyConfig(higher_is_member=False))
    check_settings(IdentifyConfig(score=Score.min_k))
    assert is_higher_member(IdentifyConfig(score=Score.min_k))
    assert not is_higher_member(IdentifyConfig(higher_is_member=False))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alpha": 0.0}, "alpha=0"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"seed": -1}, "seed=-1"),
        ({"eta": 0.7}, "eta=0.7"),
        ({"eta": 0.1, "estimator": Estimator.storey}, "estimator=storey"),
        ({"estimator": Estimator.moment}, "members: estimator=moment"),
        ({"score": Score.zlib, "higher_is_member": False}, "score=zlib is already turned"),
    ],
)
def test_a_setting_that_cannot_be(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_settings(IdentifyConfig(**{"higher_is_member": True, **changes}))


def test_column_and_score_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="column=loss: cannot be combined with score=min_k"):
        check_settings(IdentifyConfig(column="loss", score=Score.min_k), given=("column", "score"))
