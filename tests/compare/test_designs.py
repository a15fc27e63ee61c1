"""Pairing asks for the same data, training sets and models, and says what differs."""

from dataclasses import replace

import numpy as np
import pytest

from mia_audit.compare.designs import Design, check_same, disagreement

MEMBERS = np.random.default_rng(0).random((8, 20)) < 0.5
DESIGN = Design("adult", "ab" * 32, {"model.epochs": "30"}, "mlp", np.arange(20), MEMBERS)
OTHERS = {
    "the data (adult and credit)": {"data": "credit"},
    "digests": {"digest": "cd" * 32},
    "the model (mlp and logistic)": {"model": "logistic"},
    "model.epochs (30 and 5)": {"settings": {"model.epochs": "5"}},
    "the records": {"record_ids": np.arange(20) + 1},
    "the number of models (8 and 4)": {"members": MEMBERS[:4]},
    "the training sets": {"members": ~MEMBERS},
}


@pytest.mark.parametrize("words", OTHERS)
def test_every_difference_is_refused_and_named(words: str) -> None:
    other = replace(DESIGN, **OTHERS[words])
    assert words in disagreement(DESIGN, other)
    named = [("none", DESIGN), ("dropout", other)]
    with pytest.raises(ValueError, match="allow_different_designs=true") as caught:
        check_same(named)
    assert "none and dropout differ in" in str(caught.value)
    assert check_same(named, allow_different_designs=True) is False


def test_equal_designs_are_paired_even_where_a_digest_was_not_logged() -> None:
    again = replace(DESIGN, digest="", members=MEMBERS.copy())
    assert disagreement(DESIGN, again) == ""
    assert check_same([("none", DESIGN), ("dropout", again)]) is True
