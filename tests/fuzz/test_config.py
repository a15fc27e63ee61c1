"""Command lines of any content, composed by the real Hydra: a plan, or one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.config import _valid_keys, register
from mia_audit.help import choices
from mia_audit.preparation import audit_settings, prepare
from mia_audit.schema import GROUPS, AuditConfig, Composed
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told

# An address of a cluster or a bucket would be asked for; so would a path outside the folder.
ELSEWHERE = ("cluster.address", "cluster.num_gpus", "store", "tracking.uri", "dataset.path")
register()
KEYS = sorted(key for key in _valid_keys("audit") if key not in ELSEWHERE)
NASTY = (
    "", "null", "~", "true", "[]", "{}", "[1,2", "{a:b}", "1,2", "0", "-1", "1e309", "nan", "-inf",
    "9223372036854775808", "1_000", "0x1f", "${seed}", "${oc.env:HOME}", "${nothing}", "$", "'",
    '"', "\\", "a b", "a=b", "é", "\udcff", "\x1b[31m", "%s", "{0}", "../..", "/", ".", "*", "?",
    "@", "=", "[[[[1]]]]", "{a:{b:{c:1}}}", "10**9", "None", "_target_", "${now:%Y}",
    "choice(1,2)", "range(3)",
)  # fmt: skip
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
VALUES = st.one_of(
    st.sampled_from(NASTY), TEXT, st.integers(-5, 300).map(str), st.floats().map(str),
    st.integers(2**31, 2**80).map(str), st.lists(st.floats(0, 1), max_size=3).map(str),
)  # fmt: skip
CHOICES = st.sampled_from(sorted(GROUPS)).flatmap(
    lambda group: st.one_of(st.sampled_from(choices(group)), VALUES).map(lambda c: f"{group}={c}")
)
WORDS = st.one_of(
    st.builds("{}={}".format, st.sampled_from(KEYS), VALUES),
    st.builds("{}={}".format, st.sampled_from(KEYS), VALUES),
    CHOICES,
    st.builds("{}{}={}".format, st.sampled_from(["+", "++", "~", ""]), TEXT, VALUES),
    TEXT.filter(lambda word: not word.startswith("-")),
)
LINES = st.lists(WORDS, min_size=1, max_size=4)


def plan_it(composed: Composed[AuditConfig]) -> int:
    if composed.settings.scores is not None:
        audit_settings(composed.settings)
    else:
        prepare(composed.settings)
    return 0


def judge(words: list[str]) -> None:
    small = ["dataset=german_credit", "num_records=60", "num_models=8"]
    with empty_folder() as folder:
        check(*told("audit", plan_it, [*small, *words]))
        assert contents(folder) == {}


@inputs(IN_CI)
@given(LINES)
def test_any_line(words: list[str]) -> None:
    judge(words)


@pytest.mark.slow
@inputs(LONG)
@given(LINES)
def test_thousands_of_lines(words: list[str]) -> None:
    judge(words)
