"""The defences that a comparison names: a label and the audit's configuration for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mia_audit.config import compose_audit
from mia_audit.schema import AuditConfig, CompareConfig, Composed

REFERENCE = "none"


@dataclass(frozen=True, eq=False)
class Entry:
    """One defence at one setting; `label` is how tables call it, such as `dpsgd(epsilon=1)`."""

    label: str
    composed: Composed[AuditConfig]

    @property
    def defence(self) -> Any:
        return self.composed.settings.defence


def compose_entries(composed: Composed[CompareConfig]) -> list[Entry]:
    """An audit for each of `defences`, `none` first and added when missing.

    Raises ValueError for an entry that is no choice or `{choice: {key: value}}`, for keys and
    values the defence does not have, and for one that stands twice.
    """
    named = [_choice(entry) for entry in composed.settings.defences]
    named = [(REFERENCE, {}), *(pair for pair in named if pair[0] != REFERENCE)]
    labels = [label_of(choice, settings) for choice, settings in named]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"defences: {label} is named {labels.count(label)} times; once will do."
            )
    return [
        Entry(label, compose_audit(composed, choice, settings))
        for label, (choice, settings) in zip(labels, named, strict=True)
    ]


def label_of(choice: str, settings: Mapping[str, object]) -> str:
    """`dpsgd` or `dpsgd(epsilon=1, delta=1e-05)`: the choice and the settings that were given."""
    if not settings:
        return choice
    shown = ", ".join(f"{key}={_shown(value)}" for key, value in settings.items())
    return f"{choice}({shown})"


def label_of_run(tag: str, params: Mapping[str, str], defaults: Mapping[str, object]) -> str:
    """The label of an audit logged before, from its tag `defence` and its parameters.

    A tag that is a label already stays; else the settings that differ from `defaults` are shown.
    """
    if "(" in tag:
        return tag
    given = {
        key: params[f"defence.{key}"]
        for key, value in defaults.items()
        if f"defence.{key}" in params and _shown(params[f"defence.{key}"]) != _shown(value)
    }
    return label_of(tag, given)


def _choice(entry: Any) -> tuple[str, dict[str, Any]]:
    """`dpsgd` or `{dpsgd: {epsilon: 1}}` → choice and settings."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, Mapping) and len(entry) == 1:
        choice, settings = next(iter(entry.items()))
        if isinstance(choice, str) and isinstance(settings, Mapping):
            return choice, {str(key): value for key, value in settings.items()}
    raise ValueError(
        f"defences: {entry!r} is not understood; write a choice such as dpsgd, or "
        "{dpsgd:{epsilon:1}} with its settings."
    )


def _shown(value: object) -> str:
    """A setting with one spelling, whether it is a number or the text of one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_shown(part) for part in value) + "]"
    text = str(value)
    try:
        return f"{float(text):g}"
    except ValueError:
        return {"None": "null", "True": "true", "False": "false"}.get(text, text)
