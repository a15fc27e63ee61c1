"""One sentence for a configuration that cannot be composed: the key, what is wrong, the way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from mia_audit.masking import masked

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_KEY = re.compile(r"[a-z_][\w./@:$-]*", re.ASCII | re.IGNORECASE)
_NAMES = re.compile(r"['\"]?[^\W\d][\w-]*(, ?[^\W\d][\w-]*)*['\"]?|choice\(.*\)")


def one_line(text: str) -> str:
    """`text` without line breaks, colours and passwords."""
    return " ".join(masked(_ANSI.sub("", text)).split())


def sentence(error: BaseException, *, keys: Iterable[str], choices: dict[str, list[str]]) -> str:
    """What went wrong, for a user. `keys` are the valid keys, `choices` those of each group."""
    told = str(error)
    if match := re.search(r"Could not override '([^']+)'", told):
        return _unknown_key(match[1], keys)
    if match := re.search(r"Could not (?:find|load) '([^/']+)/([^']+)'", told):
        return _unknown_choice(match[1], match[2], choices)
    if match := re.search(r"Error parsing override '([^']*)'", told):
        return f"{match[1]}: cannot be read; write key=value (see --help)."
    if match := re.search(r"Ambiguous value for argument '([^']*)'", told):
        return (
            f"{one_line(match[1])}: several values need -m (one run each) or [brackets] (a list)."
        )
    if match := re.search(r"Error merging override (\S+?)=(.*)", told):
        return one_line(f"{match[1]}={match[2].strip()}: {_reason(error)}")
    for cause in _chain(error):
        key = getattr(cause, "full_key", None)
        if key and "missing mandatory value" in str(cause).lower():
            return f"{key}: must be given; write {key}=VALUE on the command line."
    return one_line(told.partition("Config search path")[0])


def unreadable(override: str, choices: dict[str, list[str]]) -> str:
    """The sentence for a word that is not key=value, or gives a group no name; '' for others.

    Hydra would read some of these otherwise, and stumble over others.
    """
    key, equals, value = override.partition("=")
    if override.startswith("="):
        return one_line(f"{override}: the key is missing; write key=value (see --help).")
    if override[:1] in ("+", "~"):
        return one_line(
            f"{override}: keys cannot be added or removed; write key=value with one of the keys"
            " that --help lists."
        )
    if not equals or not _KEY.fullmatch(key):
        shown = one_line(override) or repr(override)
        return f"{shown}: cannot be read; write key=value (see --help)."
    if key in choices and not _NAMES.fullmatch(value):
        return _unknown_choice(key, value, choices)
    return ""


def _reason(error: BaseException) -> str:
    """What the value should have been, in OmegaConf's innermost words or ours."""
    told = [cause for cause in _chain(error) if hasattr(cause, "full_key")]
    text = _first_line(told[-1] if told else error).rstrip(".")
    if match := re.search(r"expected one of \[(.+)\]", text):
        names = dict.fromkeys(part.strip().rsplit(".", 1)[-1] for part in match[1].split(","))
        return f"must be one of {', '.join(names)}."
    if match := re.search(r"could not be converted to (\w+)", text):
        kinds = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false"}
        return f"must be {kinds.get(match[1], match[1])}."
    if "is not a valid bool" in text:
        return "must be true or false."
    if "not Optional" in text:
        return "must have a value."
    if "not a ListConfig" in text:
        return "must be a list: write its value in brackets."
    if "is not a subclass of" in text or "Cannot merge DictConfig" in text:
        return "has keys of its own; set one of them (see --help)."
    if "to string" in text:
        return "must be text."
    if "is not a valid input for <enum" in text:
        return "must be one name (see --help)."
    return f"{text}."


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__


def _unknown_key(key: str, keys: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(keys), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "see --help for the keys that exist."
    return f"{one_line(key)}: there is no such key; {hint}"


def _unknown_choice(group: str, choice: str, choices: dict[str, list[str]]) -> str:
    names = ", ".join(choices.get(group, []))
    return one_line(f"{group}={choice}: there is no such choice; the choices are {names}.")
