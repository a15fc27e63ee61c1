"""Files that do not go together are refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mia_audit.identify.settings import Estimator
from mia_audit.identify.sources import read_sources
from tests.identify.files import records, write, written


def test_overlapping_ids_are_refused(tmp_path: Path) -> None:
    config = written(tmp_path)
    shared = records(200, prefix="new").tail(5)
    write(tmp_path / "calibration.csv", shared)
    with pytest.raises(ValueError, match=r"share 5 ids \('new0195', 'new0196', 'new0197' …\)"):
        read_sources(config)


def test_ids_are_compared_across_kinds_of_file(tmp_path: Path) -> None:
    frame = records(30, prefix="r").assign(id=range(30))
    write(tmp_path / "calibration.parquet", frame)
    config = written(tmp_path, calibration=str(tmp_path / "calibration.parquet"))
    write(tmp_path / "candidates.csv", frame)
    with pytest.raises(ValueError, match="share 30 ids"):
        read_sources(config)


def test_confirmed_members_are_neither_known_non_members_nor_candidates(tmp_path: Path) -> None:
    for prefix, other in (("known", "calibration"), ("new", "candidates")):
        write(tmp_path / "members.csv", records(3, prefix=prefix))
        config = written(tmp_path, members=str(tmp_path / "members.csv"))
        with pytest.raises(ValueError, match=rf"members=.* and {other}=.* share 3 ids"):
            read_sources(config)


def test_files_without_ids_cannot_overlap(tmp_path: Path) -> None:
    frame = records(30, prefix="r")
    paths = {name: write(tmp_path / f"{name}.npy", frame) for name in ("calibration", "candidates")}
    config = written(tmp_path, **{name: str(path) for name, path in paths.items()})
    assert read_sources(config).candidates.ids is None


def test_repeated_ids_are_noted(tmp_path: Path) -> None:
    config = written(tmp_path)
    write(tmp_path / "candidates.csv", records(20, prefix="new").assign(id="same"))
    assert "19 records repeat" in read_sources(config).notes[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"output": "{folder}/candidates.csv"}, "output=.* is one of the files read"),
        ({"figure": "{folder}/calibration.csv"}, "figure=.* is one of the files read"),
        ({"output": "{folder}/absent/x.csv"}, "output=.*no folder"),
        ({"output": "{folder}"}, "output=.*is a folder"),
        ({"figure": "{folder}/x.pdf"}, "figure=.*png"),
        ({"figure": "{folder}/" + 300 * "x"}, "figure=.*cannot be written: file name too long"),
        ({"output": "~nobody-here/x"}, "output=.*cannot be written: there is no such user"),
        ({"output": "{folder}/x.png", "figure": "{folder}/x.png"}, "figure=.*is also output"),
    ],
)
def test_results_that_cannot_be_written(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    filled: dict[str, Any] = {key: value.format(folder=tmp_path) for key, value in changes.items()}
    with pytest.raises(ValueError, match=words):
        read_sources(written(tmp_path, **filled))


def test_too_few_records(tmp_path: Path) -> None:
    config = written(tmp_path)
    write(tmp_path / "calibration.csv", records(1, prefix="known"))
    with pytest.raises(ValueError, match="holds 1 record: at least 2"):
        read_sources(config)
    write(tmp_path / "calibration.csv", records(10, prefix="known"))
    config.covariates = ["length"]
    with pytest.raises(ValueError, match="covariates: comparing 10 calibration records"):
        read_sources(config)


def test_confirmed_members_need_no_covariates(tmp_path: Path) -> None:
    members = records(30, prefix="m", members=30)[["id", "score"]]
    write(tmp_path / "members.csv", members)
    config = written(
        tmp_path, members=str(tmp_path / "members.csv"), covariates=["length"],
        estimator=Estimator.moment,
    )  # fmt: skip
    found = read_sources(config)
    assert found.members is not None
    assert len(found.members) == 30
