"""Plain Python values as MLflow takes them: flat parameter names, texts of a bounded length, finite
metrics under names it accepts."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from mia_audit.tracking.address import mask_passwords

PARAM_LENGTH = 500  # what servers of every age take
TAG_LENGTH = 5000

_NAME = re.compile(r"[\w\-. :/]{1,250}")
_NOT_A_NAME = re.compile(r"[^\w\-. :/]")

Point = tuple[str, float, int]  # name, value, step


def flat_params(params: Mapping[str, object]) -> dict[str, str]:
    """Nested parameters under dotted names, as text; passwords masked, long texts shortened."""
    return {
        _NOT_A_NAME.sub("_", name): shorten(mask_passwords(text(value)), PARAM_LENGTH)
        for name, value in _leaves(params, "")
    }


def text(value: object) -> str:
    """A value as a config file would show it: `true`, `null`, `[64, 64]`, the name of a choice."""
    if isinstance(value, str):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, default=text, ensure_ascii=False)


def shorten(value: str, length: int) -> str:
    """The value, or its beginning and a visible note that the rest is in config.yaml."""
    if len(value) <= length:
        return value
    note = f"… ({len(value)} characters, whole in config.yaml)"
    return value[: length - len(note)] + note


def points(
    metrics: Mapping[str, float], step_metrics: Mapping[str, Sequence[float]]
) -> list[Point]:
    """Every finite metric as (name, value, step); a sequence's steps are its positions.

    Raises ValueError for a name MLflow refuses: letters, digits and `_ - . : /` and space only.
    """
    assert metrics.keys().isdisjoint(step_metrics), "a metric and a sequence share a name"
    for name in (*metrics, *step_metrics):
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"metric name {name!r} is not allowed by MLflow: use letters, digits, '_-.:/' and "
                "spaces, at most 250 characters."
            )
    single = [(name, float(value), 0) for name, value in metrics.items()]
    stepped = [
        (name, float(value), step)
        for name, values in step_metrics.items()
        for step, value in enumerate(values)
    ]
    return [point for point in single + stepped if math.isfinite(point[1])]


def _leaves(params: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in params.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
