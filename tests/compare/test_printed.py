"""What a comparison prints, recorded at 80 and at 200 columns."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from mia_audit.compare.comparison import Comparison, compare
from mia_audit.compare.printed import print_comparison
from mia_audit.compare.words import verdict
from mia_audit.report.words import decimals_at, percent
from tests.compare.sweeps import comparison, context, matrices, subject, subjects


def printed(found: Comparison, width: int, *, terminal: bool = False) -> str:
    output = StringIO()
    console = Console(file=output, width=width, force_terminal=terminal)
    print_comparison(console, found, context())
    return output.getvalue()


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_cut_or_too_long(width: int) -> None:
    text = printed(comparison(), width)
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [80, 200])
def test_every_row_shows_its_rate_and_its_difference(width: int) -> None:
    lines = printed(comparison(), width).splitlines()
    for row in comparison().rows[1:]:
        name = row.label if width == 200 else row.label.partition("(")[0]
        rows = [line for line in lines if line.startswith(name)][1:]  # the first is of prices
        assert len(rows) == len(row.levels)
        for line, level in zip(rows, row.levels, strict=True):
            assert f" {percent(level.point.tpr, decimals_at(level.alpha))} " in line
            words = [word for word in ("lower", "higher", "unclear") if word in line]
            assert words == [word for word in [verdict(level.difference)] if word]


def test_a_long_label_is_broken_at_its_settings() -> None:
    long = replace(subjects()[1], label="dpsgd(epsilon=1, max_grad_norm=0.5)")
    text = printed(compare([subjects()[0], long]), 80)
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("max_grad_norm=0.5") == 4
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_long_choice_is_broken_between_its_words() -> None:
    long = replace(subjects()[1], label="adversarial_regularisation")
    text = printed(compare([subjects()[0], long]), 80)
    lines = [line.split("  ")[0] for line in text.splitlines()]
    assert lines.count("adversarial_") == 4
    assert max(len(line) for line in text.splitlines()) <= 80


def test_the_wide_table_has_the_exact_rule_and_the_narrow_not() -> None:
    assert "Exact t" in printed(comparison(), 200)
    assert "Exact t" not in printed(comparison(), 80)


def test_the_lines_below_say_who_attacks_and_where_everything_is() -> None:
    text = printed(comparison(), 200)
    for words in ("Adaptive", "mia_report.html", "runs/abc", "excludes 0", "an attacker finds"):
        assert words in text


def test_a_refuted_claim_is_printed() -> None:
    (leaky,) = matrices((4.0,))
    found = compare([subject("none", leaky), subject("dpsgd", leaky, claimed=0.05)])
    assert "The claim of dpsgd is refuted" in " ".join(printed(found, 80).split())


def test_no_colour_codes_when_not_a_terminal() -> None:
    assert "\x1b[" not in printed(comparison(), 80)
    assert "\x1b[" in printed(comparison(), 80, terminal=True)
