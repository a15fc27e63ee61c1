"""Operating points as rows."""

import math
from dataclasses import replace

import pytest

from mia_audit.report.labels import label_of
from mia_audit.report.tables import (
    MAIN_METHODS,
    _over_chance,
    point_table,
    remaining_methods,
)
from tests.report.audits import full_result, point, result_of


def test_every_point_is_in_one_of_the_two_tables() -> None:
    points = full_result().evaluation.points
    shown = [*MAIN_METHODS, *remaining_methods(points)]
    assert len(shown) == len(set(shown))
    assert {p.method for p in points} <= set(shown)
    rows = [row for group in point_table(points, shown).groups for row in group.rows]
    assert len(rows) == len(points)


def test_groups_run_from_the_largest_level_and_keep_the_order_of_methods() -> None:
    table = point_table(result_of().evaluation.points, MAIN_METHODS)
    assert [group.level for group in table.groups] == ["10%", "1%", "0.1%"]
    for group in table.groups:
        titles = [row.label.title for row in group.rows]
        assert titles == [label_of(m).title for m in MAIN_METHODS if m != "attack"]
        assert [row.is_headline for row in group.rows] == [True] + [False] * (len(titles) - 1)


def test_missing_numbers_are_dashes_with_a_footnote() -> None:
    missing = point("per_record", 0.01, math.nan, note="needs M ≥ 1000")
    table = point_table([missing, replace(missing, alpha=0.001), point("naive", 0.01, 0.02)])
    row = table.groups[0].rows[0]
    assert (row.tpr, row.range, row.times, row.mark, row.note) == ("–", "–", "–", None, "1")
    assert table.footnotes == ["Needs M ≥ 1000."]


def test_footnotes_call_methods_by_their_readable_names() -> None:
    table = point_table([point("naive", 0.01, 0.02, note="that of post_student_t_exact")])
    assert table.footnotes == ["That of “Student-t, exact”."]


def test_an_achieved_rate_clearly_above_the_level_is_marked() -> None:
    fine = point("post_normal", 0.01, 0.02)
    inflated = replace(fine, fpr=0.02, fpr_lower=0.015, fpr_upper=0.03)
    assert not point_table([fine]).groups[0].rows[0].is_inflated
    row = point_table([inflated]).groups[0].rows[0]
    assert row.is_inflated
    assert (row.achieved, row.achieved_range) == ("2.00%", "[1.50, 3.00]")


def test_marks_share_one_scale_from_zero() -> None:
    table = point_table([point("naive", 0.01, 0.05), point("post_empirical", 0.01, 0.025)])
    wide, narrow = (row.mark for row in table.groups[0].rows)
    assert wide is not None
    assert narrow is not None
    assert wide.right == pytest.approx(98)
    assert wide.centre - 2 == pytest.approx(2 * (narrow.centre - 2), abs=0.05)
    assert wide.chance == narrow.chance


def test_short_names_fit_a_narrow_terminal() -> None:
    methods = [*MAIN_METHODS, "target", "post_normal", "a_method_with_a_very_long_name_indeed"]
    assert all(len(label_of(method, attack="calibrated_loss").title) <= 22 for method in methods)


def test_colours_tell_the_main_methods_apart() -> None:
    colours = [label_of(method).colour for method in MAIN_METHODS]
    assert len(set(colours)) == len(colours)


def test_over_chance_is_over_the_rate_that_was_borne() -> None:
    loose = replace(point("post_student_t_exact", 0.01, 0.03), fpr=0.02)
    unknown = replace(loose, fpr=math.nan)
    assert [_over_chance(p) for p in (loose, unknown)] == ["1.5×", "3.0×"]
