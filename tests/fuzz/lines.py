"""Command lines of any content for any job, within a folder that holds what they may name."""

import re
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

from hypothesis import strategies as st

from mia_audit.config import _valid_keys, compose
from mia_audit.help import choices
from mia_audit.schema import GROUPS, JOBS

NEEDED = ["calibration=a", "candidates=b"]  # by identify, to be composed
DEFAULTS = {job: compose(job, NEEDED if job == "identify" else []).values for job in JOBS}
KEYS = {job: sorted(_valid_keys(job)) for job in JOBS}
NASTY = (
    "", "null", "~", "true", "[]", "{}", "[1,2", "{a:b}", "1,2", "0", "-1", "1e309", "nan", "-inf",
    "9223372036854775808", "1_000", "0x1f", "${seed}", "${oc.env:HOME}", "${nothing}", "$", "'",
    '"', "\\", "a b", "a=b", "é", "\udcff", "\x1b[31m", "%s", "{0}", "../..", "/", ".", "*", "?",
    "@", "=", "[[[[1]]]]", "{a:{b:{c:1}}}", "10**9", "None", "_target_", "${now:%Y}",
    "choice(1,2)", "range(3)", "[none,{dpsgd:{epsilon:-1}}]", "[{dropout:1}]", "[0.1]", "[score]",
)  # fmt: skip
# Only what stays on this machine: no host but the loopback's closed port 1, no bucket.
ADDRESSES = (
    "auto", "local", "127.0.0.1", "127.0.0.1:", "127.0.0.1:1", "[::1]:1", "127.0.0.1:99999",
    "127.0.0.1:²", ":5", "ray://127.0.0.1:1", "a/b:1", "127.0.0.1:-1",
)  # fmt: skip
URIS = (
    "sqlite:///a.db", "sqlite:///a/b.db", "sqlite:///t.csv", "sqlite:///given", "sqlite:///",
    "sqlite://", "sqlite:///:memory:", "sqlite:///a.db?x=1", "sqlite:///%00", "file:a",
    "postgresql://u:secret@127.0.0.1:1/x", "http://", "http://127.0.0.1:1", "http://[::1",
    "https://u:secret@127.0.0.1:1/", "http://127.0.0.1:99999", "databricks",
)  # fmt: skip
PATHS = (
    "t.csv", "given", "given/scores.npy", "given/members.npy", "a/b/c", "./", "..", "t.csv/x",
    "file://", "file://t.csv", "memory://x", "nothing://x", "://", "::", "a::b", "zip://t.csv",
    "~", "~nobody-here/x", "simplecache::file://t.csv", "dir::t.csv", "t" * 300, "t.parquet",
    "t.csv.gz", "a\nb",
)  # fmt: skip
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
VALUES = st.one_of(
    st.sampled_from(NASTY), TEXT, st.integers(-5, 300).map(str), st.floats().map(str),
    st.integers(2**31, 2**80).map(str), st.lists(st.floats(0, 1), max_size=3).map(str),
)  # fmt: skip
INSIDE = VALUES.filter(lambda value: not value.startswith("/"))
OWN = {
    "cluster.address": st.one_of(
        st.sampled_from(ADDRESSES), VALUES.filter(lambda value: not re.search(r":\d+$", value))
    ),
    "tracking.uri": st.one_of(
        st.sampled_from(URIS), INSIDE, INSIDE.map(lambda value: f"sqlite:///{value}")
    ),
}
FILES = (
    "store", "dataset.path", "scores", "target.scores", "target.members", "calibration",
    "candidates", "members", "output", "figure",
)  # fmt: skip
OWN |= {key: st.one_of(st.sampled_from(PATHS), INSIDE) for key in FILES}


def lines(job: str) -> st.SearchStrategy[list[str]]:
    """Up to four words for `job`: its keys, most of them with values of the right kind, a choice
    with keys of its own, or anything."""
    setting = st.sampled_from(KEYS[job]).flatmap(lambda key: set_to(key, _default(job, key)))
    settings = st.lists(setting, min_size=1, max_size=3)
    ways = [settings, settings, settings, st.lists(st.one_of(setting, ODD), min_size=1, max_size=3)]
    if "dataset" in KEYS[job]:
        ways += [st.tuples(CHOSEN, settings).map(lambda both: both[0] + both[1][:1])] * 3
    return st.one_of(*ways)


def set_to(key: str, default: Any) -> st.SearchStrategy[str]:
    """`key=value`, with a value of the default's kind more often than not."""
    kind = _like(default)
    values = OWN[key] if key in OWN else st.one_of(kind, kind, kind, VALUES)
    return values.map(lambda value: f"{key}={value}")


def _like(default: Any) -> st.SearchStrategy[str]:
    match default:
        case bool():
            return st.sampled_from(["true", "false"])
        case int():
            return st.one_of(st.integers(-2, 12), st.integers(-5, 300), st.integers()).map(str)
        case float():
            return st.one_of(st.floats(), st.floats(-0.1, 1.1), st.integers(-1, 9)).map(str)
        case Enum():
            return st.sampled_from([member.name for member in type(default)])
        case list():
            parts = st.one_of(st.floats(), st.floats(0, 1), st.integers(-1, 99), TEXT)
            return st.lists(parts, max_size=4).map(str)
        case _:
            return VALUES


def _default(job: str, key: str) -> Any:
    value: Any = DEFAULTS[job]
    for part in key.split("."):
        value = value[part]
    return value


def _of_choice(group: str, choice: str) -> st.SearchStrategy[list[str]]:
    """A choice, and up to three of its keys."""
    kinds = GROUPS[group]
    own = list(fields(kinds[choice])) if choice in kinds else []
    settings = [
        set_to(f"{group}.{field.name}", None if field.default is MISSING else field.default)
        for field in own
    ]
    some = st.lists(st.one_of(settings), max_size=3) if settings else st.just([])
    return some.map(lambda words: [f"{group}={choice}", *words])


CHOSEN = st.one_of(
    *(_of_choice(group, choice) for group in sorted(GROUPS) for choice in choices(group)),
    st.builds("{}={}".format, st.sampled_from(sorted(GROUPS)), VALUES).map(lambda word: [word]),
)
ODD = st.one_of(
    st.builds("{}{}={}".format, st.sampled_from(["+", "++", "~", ""]), TEXT, VALUES),
    TEXT.filter(lambda word: not word.startswith("-")),
)
