"""Numbers as text."""

import math

import pytest

from mia_audit.report.words import decimals_at, duration, interval, level, percent, percent_up


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0321, "3.2%"),
        (0.1234, "12.3%"),
        (0.1, "10.0%"),
        (1.0, "100.0%"),
        (0.00123, "0.12%"),
        (0.0999, "10.0%"),
        (0.0, "0%"),
        (math.nan, "–"),
    ],
)
def test_percent_has_two_significant_digits(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.10702, "10.71%"), (0.107, "10.70%"), (0.29, "29.00%"), (1e-7, "0.01%"), (0.0, "0.00%")],
)
def test_a_least_level_is_rounded_up(value: float, text: str) -> None:
    assert percent_up(value, 2) == text


def test_levels_are_spoken_of_without_trailing_zeros() -> None:
    assert [level(a) for a in (0.1, 0.01, 0.001, 0.05)] == ["10%", "1%", "0.1%", "5%"]


def test_interval_ends_share_their_decimals() -> None:
    assert interval(0.00951, 0.0123) == "[0.95, 1.23]"
    assert interval(math.nan, 0.1) == "–"


@pytest.mark.parametrize(("alpha", "decimals"), [(0.1, 1), (0.01, 2), (0.001, 2), (0.0001, 3)])
def test_a_table_shows_its_own_level_in_full(alpha: float, decimals: int) -> None:
    assert decimals_at(alpha) == decimals
    assert float(percent(alpha, decimals).rstrip("%")) == pytest.approx(100 * alpha)


def test_durations() -> None:
    assert [duration(s) for s in (4.25, 42, 200, 7500)] == [
        "4.2 s",
        "42 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert duration(math.nan) == "–"
