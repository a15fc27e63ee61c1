import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mia_audit.stats import blocks as module
from mia_audit.stats.blocks import leave_one_out_blocks, rows
from mia_audit.stats.likelihood import is_regular, write_log_likelihood_ratio
from tests.stats import oracle


@settings(max_examples=30, deadline=None)
@given(entries=st.integers(1, 900), row_entries=st.integers(1, 100), seed=st.integers(0, 99))
def test_the_cut_into_blocks_and_rows_changes_nothing(
    entries: int, row_entries: int, seed: int
) -> None:
    scores, members = oracle.random_case(seed, 19, 13)
    whole, cut = np.empty((2, 19, 13))
    (block,) = leave_one_out_blocks(scores, members)
    write_log_likelihood_ratio(block, whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROW_ENTRIES", row_entries)
        for block in leave_one_out_blocks(scores, members, entries=entries):
            write_log_likelihood_ratio(block, cut[:, block.columns])
    np.testing.assert_allclose(cut, whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e-6, 0.0])
def test_a_class_that_hardly_varies_keeps_its_digits_beside_one_that_does(ratio: float) -> None:
    """Sums about the record's first score would leave the narrow class nothing but rounding."""
    rng = np.random.default_rng(0)
    _, members = oracle.random_case(0)
    noise = rng.standard_normal(members.shape)
    scores = np.where(members, 50 + 30 * noise, -27.6 + ratio * noise)
    (block,) = leave_one_out_blocks(scores, members)
    for kind, chosen in (("in", members), ("out", ~members)):
        _, variance = block.left_out(kind)
        for m, x in ((0, 0), (5, 3), (22, 40)):
            others = chosen[:, x] & (np.arange(23) != m)
            expected = oracle.variance(scores[others, x])
            assert variance[m, x] == pytest.approx(expected, rel=1e-6)


def test_rows_cover_a_block_once() -> None:
    parts = [np.arange(100)[part] for part in rows(100, module.ROW_ENTRIES // 7)]
    assert [len(part) for part in parts] == [7] * 14 + [2]
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(100))


def test_a_block_is_regular_when_everyone_leaves_two_varying_shadows_of_each_class() -> None:
    scores, members = oracle.random_case(1)
    assert all(is_regular(block) for block in leave_one_out_blocks(scores, members))
    scarce = members.copy()
    scarce[:, 4], scarce[:2, 4] = True, False
    assert not all(is_regular(block) for block in leave_one_out_blocks(scores, scarce))
    scores[members[:, 7], 7] = 1.0
    assert not all(is_regular(block) for block in leave_one_out_blocks(scores, members))


def test_the_last_block_is_narrower() -> None:
    scores, members = (np.tile(matrix, 9) for matrix in oracle.random_case(2))
    assert scores.shape == (23, 369)
    widths = [b.centred.shape for b in leave_one_out_blocks(scores, members, entries=23 * 150)]
    assert widths == [(23, 150)] * 2 + [(23, 69)]
    widths = [b.centred.shape for b in leave_one_out_blocks(scores, members, entries=1)]
    assert widths == [(23, 128)] * 2 + [(23, 113)]
