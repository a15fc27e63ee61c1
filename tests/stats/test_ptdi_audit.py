import math
import time

import numpy as np
import pytest
from scipy.stats import t as student_t

from mia_audit.stats.member_share import NoScaling, Storey, Subtraction
from mia_audit.stats.ptdi_audit import audit_selection, select_for_target
from mia_audit.stats.ptdi_target import split_target
from mia_audit.stats.selection import select_members


def audit_data(models: int, records: int, shift: float = 2.0, seed: int = 0) -> tuple:
    rng = np.random.default_rng(seed)
    members = rng.random((models, records)) < 0.5
    return rng.normal(size=members.shape) + shift * members, members


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 2 / 3, 0.9])
def test_the_split_keeps_the_share_and_as_many_records_as_possible(share: float) -> None:
    z, members = audit_data(1, 400)
    split = split_target(z[0], members[0], share, (0, 0))
    inside, outside = members[0].sum(), (~members[0]).sum()
    num_in, num_out = split.is_member.sum(), (~split.is_member).sum()
    assert num_in / (num_in + num_out) == pytest.approx(share, abs=0.5 / (num_in + num_out) + 1e-9)
    assert split.calibration.size == outside // 2
    assert num_in == inside or num_out == outside - outside // 2
    assert not set(split.calibration) & set(split.candidates)
    assert not members[0][split.calibration].any()
    np.testing.assert_array_equal(members[0][split.candidates], split.is_member)


def test_the_split_ignores_the_scores() -> None:
    z, members = audit_data(1, 100)
    first, second = (split_target(s, members[0], 0.5, (3, 1)) for s in (z[0], -z[0]))
    np.testing.assert_array_equal(first.calibration, second.calibration)
    np.testing.assert_array_equal(first.candidates, second.candidates)
    other = split_target(z[0], members[0], 0.5, (4, 1))
    assert not np.array_equal(first.calibration, other.calibration)


def test_the_named_target_is_selected_as_select_members_does() -> None:
    z, members = audit_data(5, 600)
    audit = audit_selection(z, members, target=3, seed=9)
    split = split_target(z[3], members[3], 0.5, (9, 3))
    expected = select_members(z[3][split.calibration], z[3][split.candidates], 0.1)
    chosen = split.candidates[expected.indices]
    np.testing.assert_array_equal(audit.selected_records, np.sort(chosen))
    assert audit.false_discovery_proportion == pytest.approx(np.mean(~members[3][chosen]))
    assert audit.power == pytest.approx(members[3][chosen].sum() / split.is_member.sum())
    assert audit.selection.non_member_share == expected.non_member_share
    np.testing.assert_array_equal(audit.named.selected_members, members[3][audit.selected_records])
    assert (audit.target, audit.num_targets, audit.nan_entries, audit.note) == (3, 5, 0, "")


def test_curves_equal_a_loop_over_targets() -> None:
    z, members = audit_data(6, 300)
    levels = (0.05, 0.1, 0.4)
    audit = audit_selection(z, members, levels=levels, member_share=0.3)
    assert [(c.estimator, c.alpha) for c in audit.curves] == [
        (e, a) for e in ("subtraction", "storey", "none") for a in levels
    ]
    for curve in audit.curves:
        estimator = {"subtraction": Subtraction(), "storey": Storey(), "none": NoScaling()}
        one = [
            select_for_target(
                z[m],
                members[m],
                alpha=curve.alpha,
                estimator=estimator[curve.estimator],
                member_share=0.3,
                target=m,
            )
            for m in range(6)
        ]
        wrong = np.array([s.false_discovery_proportion for s in one])
        reach = student_t.ppf(0.975, 5) * wrong.std(ddof=1) / math.sqrt(6)
        assert curve.fdr == pytest.approx(wrong.mean())
        assert curve.fdr_lower == pytest.approx(max(0, wrong.mean() - reach))
        assert curve.fdr_upper == pytest.approx(min(1, wrong.mean() + reach))
        assert curve.power == pytest.approx(np.mean([s.power for s in one]))
        assert curve.selected == pytest.approx(np.mean([s.selected_records.size for s in one]))
        shares = [s.selection.non_member_share for s in one]
        assert curve.share_estimate == pytest.approx(np.mean(shares))
        reach = student_t.ppf(0.975, 5) * np.std(shares, ddof=1) / math.sqrt(6)
        assert curve.share_upper == pytest.approx(np.mean(shares) + reach)
        assert curve.share_lower == pytest.approx(max(0, np.mean(shares) - reach))
        assert curve.share_truth == pytest.approx(0.7, abs=0.01)


def test_the_chosen_estimator_and_level_join_the_curves() -> None:
    z, members = audit_data(3, 200)
    audit = audit_selection(z, members, alpha=0.15, estimator=Subtraction(0.3), levels=(0.1,))
    names = [(c.estimator, c.alpha) for c in audit.curves]
    assert names[:2] == [("subtraction", 0.1), ("subtraction", 0.15)]
    assert len(names) == 6
    same = audit_selection(z, members, levels=(0.1,), estimators=(Subtraction(0.3),))
    assert same.curves[0].share_estimate != audit.curves[0].share_estimate


def test_nan_entries_are_dropped_and_counted() -> None:
    z, members = audit_data(4, 200)
    z[1] = np.nan  # a model that was lost
    z[0, :50] = np.nan
    audit = audit_selection(z, members)
    assert audit.nan_entries == 250
    assert audit.num_targets == 3
    assert audit.selected_records.min() >= 50
    assert audit.named.nan_entries == 50
    with pytest.raises(ValueError, match="Target 1 has 0 calibration"):
        audit_selection(z, members, target=1)


def test_too_few_records_are_explained() -> None:
    z, members = audit_data(4, 20, shift=9.0)
    note = audit_selection(z, members, alpha=0.01).note
    assert "No selection is possible" in note
    assert "are needed" in note


def test_without_members_there_is_no_power() -> None:
    z, members = audit_data(3, 200)
    audit = audit_selection(z, members, member_share=0.0)
    assert math.isnan(audit.power)
    assert all(math.isnan(c.power) and c.share_truth == 1 for c in audit.curves)


def test_one_model_gives_no_interval() -> None:
    z, members = audit_data(1, 200)
    curve = audit_selection(z, members).curves[0]
    assert math.isnan(curve.fdr_lower)
    assert 0 <= curve.fdr <= 1


def test_the_full_audit_is_fast() -> None:
    z, members = audit_data(128, 4000)
    start = time.perf_counter()
    audit = audit_selection(z, members)
    assert time.perf_counter() - start < 3
    assert len(audit.curves) == 21


@pytest.mark.parametrize(
    ("keywords", "word"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"levels": (0.1, 1.0)}, "levels"),
        ({"member_share": 1.0}, "member_share"),
        ({"target": 3}, "from 0 to 2"),
        ({"target": -1}, "from 0 to 2"),
    ],
)
def test_bad_settings_are_named(keywords: dict, word: str) -> None:
    z, members = audit_data(3, 100)
    with pytest.raises(ValueError, match=word):
        audit_selection(z, members, **keywords)


def test_bad_shapes_are_named() -> None:
    z, members = audit_data(3, 100)
    with pytest.raises(ValueError, match="one shape"):
        audit_selection(z, members[:2])
    with pytest.raises(ValueError, match="one shape"):
        select_for_target(z[0], members[0][:50])
