"""What is written, printed, drawn and logged of a selection."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from mia_audit.identify.cutoffs import every_cutoff, shown_cutoffs
from mia_audit.identify.figure import draw_identified
from mia_audit.identify.logged import metrics
from mia_audit.identify.printed import print_identified
from mia_audit.identify.selecting import Identified, identify
from mia_audit.identify.settings import Estimator, IdentifyConfig
from mia_audit.identify.sources import read_sources
from mia_audit.identify.written import write_selection
from mia_audit.report.words import percent_up
from tests.identify.files import records, write, written


def run(config: IdentifyConfig) -> Identified:
    return identify(read_sources(config), config)


def printed(folder: Path, *, width: int = 80, **changes: Any) -> str:
    config = written(folder, **changes)
    result = run(config)
    output = StringIO()
    print_identified(Console(file=output, width=width), result, config, every_cutoff(result))
    return output.getvalue()


def test_the_file_holds_every_candidate_in_its_order(tmp_path: Path) -> None:
    config = written(tmp_path)
    frame = pd.read_csv(config.candidates).sample(frac=1, random_state=0)
    write(Path(config.candidates), frame)
    result = run(config)
    write_selection(result, config.output)
    table = pd.read_csv(config.output)
    assert list(table) == ["id", "score", "p_value", "scaled_p_value", "selected", "fdp_bound"]
    assert table.id.tolist() == frame.id.tolist()
    np.testing.assert_array_equal(table.score, frame.score)
    np.testing.assert_array_equal(table.p_value, result.selection.p_values)
    np.testing.assert_array_equal(table.scaled_p_value, result.selection.scaled_p_values)
    np.testing.assert_array_equal(np.flatnonzero(table.selected), result.selection.indices)
    np.testing.assert_array_equal(table.fdp_bound, result.bounds)
    assert not list(tmp_path.glob(".selected*"))


def test_ids_with_commas_and_quotes_survive(tmp_path: Path) -> None:
    config = written(tmp_path)
    ids = ["a,b", 'say "x"', "007", "é", "two\nlines"]
    write(tmp_path / "odd.parquet", records(5, prefix="n").assign(id=ids))
    config.candidates = str(tmp_path / "odd.parquet")
    write_selection(run(config), config.output)
    assert pd.read_csv(config.output, dtype={"id": str}).id.tolist() == ids


def test_positions_stand_in_for_ids(tmp_path: Path) -> None:
    config = written(tmp_path)
    np.save(tmp_path / "c.npy", np.arange(20.0))
    config.candidates = str(tmp_path / "c.npy")
    write_selection(run(config), config.output)
    assert pd.read_csv(config.output).id.tolist() == list(range(20))


def test_every_cut_off_counts_what_it_calls(tmp_path: Path) -> None:
    result = run(written(tmp_path))
    cutoffs = every_cutoff(result)
    p_values = result.selection.p_values
    assert [cut.called for cut in cutoffs] == [np.sum(p_values <= cut.p_value) for cut in cutoffs]
    chosen = [cut for cut in cutoffs if cut.is_selection]
    assert [(cut.called, cut.bound) for cut in chosen] == [
        (result.selection.indices.size, result.bound)
    ]
    shown = shown_cutoffs(cutoffs)
    assert chosen[0] in shown
    assert len(shown) <= 10
    assert [cut.p_value for cut in shown] == sorted({cut.p_value for cut in shown})


@pytest.mark.parametrize("width", [80, 160])
def test_the_print_says_what_was_done_and_how_sure_one_may_be(tmp_path: Path, width: int) -> None:
    text = printed(tmp_path, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    words = " ".join(text.split())
    for expected in (
        "300 records of", "200 records of", "a higher score counts as more likely trained on",
        "of 200 candidates are selected as training data at a false-discovery rate of 10%",
        "of the candidates, estimated by subtraction, which is low on average",
        "below it these data select nothing",
        "with 90% confidence at most", "At most wrong",
    ):  # fmt: skip
        assert expected in words, expected
    assert "Warning" not in text


def test_nothing_selected_is_explained(tmp_path: Path) -> None:
    words = " ".join(printed(tmp_path, alpha=0.0001).split())
    expected = "0 of 200 candidates are selected. No selection is possible: 300 calibration non-m"
    assert expected in words
    assert "are needed" in words
    smallest = run(written(tmp_path, alpha=0.0001)).selection.smallest_alpha
    said = "The smallest false-discovery rate at which anything would be selected is "
    assert f"{said}{percent_up(smallest, 2)}." in words


@pytest.mark.parametrize("estimator", [Estimator.subtraction, Estimator.storey, Estimator.none])
@pytest.mark.parametrize("size", [7, 30, 299])
def test_the_smallest_level_printed_selects_when_it_is_given_back(
    tmp_path: Path, estimator: Estimator, size: int
) -> None:
    found = records(size, prefix="c", members=size // 3, seed=size).assign(length=1)
    candidates = str(write(tmp_path / "some.csv", found))
    text = printed(tmp_path, alpha=0.0001, candidates=candidates, estimator=estimator)
    (level,) = re.findall(r"Smallest level +([\d.]+)%", text)
    given = written(tmp_path, alpha=float(level) / 100, candidates=candidates, estimator=estimator)
    assert run(given).selection.indices.size > 0
    given.alpha -= 1e-4
    assert run(given).selection.indices.size == 0


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (Estimator.subtraction, "low on average"),
        (Estimator.storey, "low on average"),
        (Estimator.jackknife_beta, "Training data about"),
        (Estimator.none, "Training data not estimated"),
    ],
)
def test_the_share_of_training_data_says_which_way_it_errs(
    tmp_path: Path, estimator: Estimator, words: str
) -> None:
    assert words in " ".join(printed(tmp_path, estimator=estimator).split())


def test_no_level_is_named_where_none_would_select(tmp_path: Path) -> None:
    write(tmp_path / "few.csv", records(1, prefix="c").assign(score=[-50.0]))
    words = " ".join(printed(tmp_path, candidates=str(tmp_path / "few.csv")).split())
    assert "0 of 1 candidates are selected." in words
    assert "would be selected" not in words


def test_warnings_and_notes_are_printed(tmp_path: Path) -> None:
    words = " ".join(printed(tmp_path, higher_is_member=False).split())
    assert "Warning: The candidates look LESS like training data" in words
    assert "a lower score counts as more likely trained on" in words


def test_the_figure_is_a_png_of_the_house(tmp_path: Path) -> None:
    result = run(written(tmp_path))
    picture = draw_identified(result, every_cutoff(result))
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


def test_metrics_are_finite(tmp_path: Path) -> None:
    found = metrics(run(written(tmp_path, covariates=["length"])))
    assert {"num_selected", "member_share", "smallest_alpha", "fdp_bound", "covariates_auc"} <= set(
        found
    )
    assert all(np.isfinite(list(found.values())))
    assert "fdp_bound" not in metrics(run(written(tmp_path, alpha=0.0001)))
