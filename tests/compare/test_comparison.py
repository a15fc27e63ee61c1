"""Rows, columns and verdicts of a comparison whose truth is known."""

import csv
import io
import math
from dataclasses import replace

import numpy as np

from mia_audit.audit import audit
from mia_audit.compare.comparison import compare
from mia_audit.compare.table import excludes_zero, table_csv, table_rows
from mia_audit.compare.trade_off import front_of
from mia_audit.compare.words import attackers, finding, verdict
from tests.compare.sweeps import comparison, matrices, subject, subjects

NAMED = (
    "defence", "test_accuracy", "train_accuracy", "auc",
    "tpr_at_fpr/0.01", "tpr_at_fpr/0.01_lower", "tpr_at_fpr/0.01_upper",
    "tpr_difference/0.01", "tpr_difference/0.01_lower", "tpr_difference/0.01_upper",
    "epsilon_accountant", "epsilon_measured", "seconds",
)  # fmt: skip


def test_each_row_is_the_audit_of_its_own_matrix() -> None:
    for one, row in zip(subjects(), comparison().rows, strict=True):
        alone = audit(one.matrix, one.settings)
        assert [level.point for level in row.levels] == [
            alone.evaluation.point("post_empirical", alpha) for alpha in (0.1, 0.01, 0.001)
        ]
        assert row.result.evaluation.auc == alone.evaluation.auc


def test_differences_are_to_none_and_find_what_was_planted() -> None:
    rows = {row.label: row.level(0.1) for row in comparison().rows}
    bare = rows["none"].point.tpr
    assert rows["none"].difference is None
    for label in ("dpsgd(epsilon=1)", "mixup(alpha=0.2)"):
        found = rows[label].difference
        assert found is not None
        assert math.isclose(found.difference, rows[label].point.tpr - bare)
        assert verdict(found) == "lower"


def test_columns_are_the_named_ones_and_numbers_the_rows() -> None:
    rows = list(csv.DictReader(io.StringIO(table_csv(comparison()))))
    assert set(NAMED) <= set(rows[0])
    assert [row["defence"] for row in rows] == [row.label for row in comparison().rows]
    for text, row in zip(rows, comparison().rows, strict=True):
        level = row.level(0.01)
        assert math.isclose(float(text["tpr_at_fpr/0.01"]), level.point.tpr, rel_tol=1e-8)
        assert math.isclose(float(text["seconds"]), row.seconds)
        assert text["attacker"]
    assert rows[0]["tpr_difference/0.01"] == "0"
    assert rows[0]["tpr_difference/0.01_lower"] == ""
    assert float(rows[1]["epsilon_accountant"]) == 1.0
    assert rows[0]["epsilon_accountant"] == ""
    assert list(table_rows(comparison())[0]) == list(rows[0])


def test_cost_and_accuracy_are_relative_to_none() -> None:
    reference, private, dropout, _ = comparison().rows
    assert (reference.cost, private.cost) == (1.0, 2.5)
    assert math.isclose(dropout.accuracy_difference[0], 0.01, abs_tol=0.001)
    assert dropout.accuracy_difference[1] > 0 > private.accuracy_difference[2]
    width = dropout.accuracy_difference[2] - dropout.accuracy_difference[1]
    assert width < 0.5 * (dropout.test_accuracy[2] - dropout.test_accuracy[1])


def test_the_front_holds_what_nothing_beats() -> None:
    labels = [row.label for row in comparison().rows]
    front = {label for label, on in zip(labels, front_of(comparison()), strict=True) if on}
    assert {"dpsgd(epsilon=1)", "dropout"} <= front
    assert "none" not in front  # dropout is more accurate and less exposed here


def test_a_refuted_claim_is_told() -> None:
    leaky, _ = matrices((4.0, 4.0))
    found = compare([subject("none", leaky), subject("dpsgd", leaky, claimed=0.05)])
    assert [row.label for row in found.refuted] == ["dpsgd"]
    assert comparison().refuted == []


def test_on_different_designs_limits_are_unpaired_and_records_not_matched() -> None:
    one = subject("none", matrices((1.5,), seed=1)[0])
    other = subject("dropout", matrices((0.2,), seed=2)[0])
    row = compare([one, other], is_paired=False).rows[1]
    level = row.level(0.1)
    assert level.paired is None
    assert level.difference == level.unpaired
    assert excludes_zero(level) is True
    assert math.isnan(level.overlap)
    assert math.isnan(row.accuracy_difference[0])


def test_the_finding_names_the_lowest_of_those_shown_to_help() -> None:
    found = comparison()
    alpha = found.lead_alpha
    helping = [r for r in found.rows[1:] if verdict(r.level(alpha).difference) == "lower"]
    best = min(helping, key=lambda r: r.level(alpha).point.tpr)
    assert f"with {best.label}, the lowest of the {len(helping)}" in finding(found)
    one = compare([subjects()[0], subjects()[1]])
    assert "with dpsgd(epsilon=1), the only one shown to help" in finding(one)
    alone = compare(subjects()[:1])
    assert "no defence was compared" in finding(alone)
    same = matrices((1.0, 1.0))
    unclear = compare([subject("none", same[0]), subject("dropout", same[0])])
    assert "no defence is shown" in finding(unclear)
    assert [verdict(level.difference) for level in unclear.rows[1].levels[:2]] == ["equal"] * 2


def test_attackers_are_said_once_each() -> None:
    assert [labels for labels, _ in attackers(comparison())] == ["none", "all others"]
    first, *others = comparison().rows
    label_only = replace(others[0], attacker="Sees the label alone.")
    changed = replace(comparison(), rows=[first, label_only, *others[1:]])
    assert ("dpsgd(epsilon=1)", "Sees the label alone.") in attackers(changed)


def test_unknown_accuracies_leave_the_rates_standing() -> None:
    unknown = [replace(m, train_accuracy=m.train_accuracy * np.nan,
                       test_accuracy=m.test_accuracy * np.nan, seconds=math.nan)
               for m in matrices((1.5, 0.5))]  # fmt: skip
    found = compare([subject("none", unknown[0]), subject("dropout", unknown[1])])
    assert not front_of(found).any()
    assert math.isnan(found.rows[1].cost)
    assert "training records" in finding(found)
