"""The sentences say what the numbers say."""

import math
from dataclasses import replace

import numpy as np

from mia_audit.report.sentences import (
    accuracy_line,
    epsilon_line,
    headline,
    headline_point,
    selection_line,
    what_it_means,
)
from tests.report.audits import point, result_of


def test_headline_gives_level_rate_interval_and_ratio() -> None:
    points = [point("post_empirical", a, 3.2 * a) for a in (0.1, 0.01, 0.001)]
    assert str(headline(points)) == (
        "At a false-positive rate of 1% on every record, an attacker finds 3.2% [2.6, 3.8] of the "
        "training records – 3.2 times chance."
    )


def test_headline_takes_the_nearest_level_that_has_a_number() -> None:
    points = [point("post_empirical", 0.01, math.nan), point("post_empirical", 0.1, 0.3)]
    points.append(point("naive", 0.01, 0.5))
    chosen = headline_point(points)
    assert chosen is not None
    assert chosen.alpha == 0.1


def test_headline_prefers_a_level_whose_estimate_has_an_interval() -> None:
    bare = replace(point("post_empirical", 0.01, 0.0), lower=math.nan, upper=math.nan)
    chosen = headline_point([bare, point("post_empirical", 0.1, 0.2)])
    assert chosen is not None
    assert chosen.alpha == 0.1
    assert headline_point([bare]) is bare


def test_an_interval_around_chance_is_called_guessing() -> None:
    assert "not distinguishable from the 1% that guessing finds" in str(
        headline([point("post_empirical", 0.01, 0.011)])
    )
    assert "less than the 1% that guessing finds" in str(
        headline([point("post_empirical", 0.01, 0.005)])
    )


def test_a_leak_at_another_level_stands_beside_a_headline_that_shows_none() -> None:
    sentence = str(
        headline([point("post_empirical", 0.01, 0.011), point("post_empirical", 0.1, 0.3)])
    )
    assert "not distinguishable from the 1% that guessing finds; but at 10%" in sentence
    assert "the attacker finds 30.0% [24.0, 36.0]" in sentence


def test_a_missing_interval_is_said_rather_than_shown() -> None:
    bare = replace(point("post_empirical", 0.01, 0.02), lower=math.nan, upper=math.nan)
    sentence = str(headline([bare]))
    assert "too few hits for an interval" in sentence
    assert "[" not in sentence


def test_without_any_number_the_headline_says_why() -> None:
    assert "too few models or records" in str(headline([]))


def test_precision_among_equal_numbers() -> None:
    sentences = what_it_means(point("post_empirical", 0.01, 0.03), num_models=128)
    assert any("75%" in sentence for sentence in sentences)  # .03 / (.03 + .01)
    assert any("127 models" in sentence for sentence in sentences)


def test_epsilon_line_gives_the_verdict() -> None:
    assert epsilon_line(math.nan, 1.0) == ""
    assert "no leak shown" in epsilon_line(0.0, None)
    assert "claimed 1: the claim is not refuted" in epsilon_line(0.5, 1.0)
    assert "claimed 0.3: the claim is refuted" in epsilon_line(0.5, 0.3)


def test_accuracy_line_averages_the_known_models() -> None:
    train, test = np.array([0.9, 1.0, np.nan]), np.array([0.8, 0.9, np.nan])
    assert accuracy_line(train, test) == "test 85.0%, train 95.0% (mean of 2 models)"
    assert accuracy_line(np.full(2, np.nan), np.full(2, np.nan)) == ""


def test_selection_line_counts_what_was_named() -> None:
    selection = result_of().selection
    assert selection is not None
    size = selection.selected_records.size
    assert size > 0
    assert f"{size} of {selection.selection.num_candidates} candidates" in selection_line(selection)
