"""Whether audits can be paired: the same data, the same training sets, the same kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Design:
    """What has to agree for differences to be paired.

    `digest` is that of the pool ('' where it was not logged), `settings` those of data set and
    model; record_ids [N] and members [M, N] are the rows themselves.
    """

    data: str
    digest: str
    settings: Mapping[str, str]
    model: str
    record_ids: np.ndarray
    members: np.ndarray


def disagreement(first: Design, second: Design) -> str:
    """In what two designs differ, in words; '' when they agree."""
    if first.data != second.data:
        return f"the data ({first.data} and {second.data})"
    if first.digest and second.digest and first.digest != second.digest:
        return f"the data (digests {first.digest[:12]} and {second.digest[:12]})"
    if first.model != second.model:
        return f"the model ({first.model} and {second.model})"
    for key in sorted({*first.settings, *second.settings}):
        one, other = (design.settings.get(key, "unset") for design in (first, second))
        if one != other:
            return f"{key} ({one} and {other})"
    if not np.array_equal(first.record_ids, second.record_ids):
        return "the records of the pool"
    if first.members.shape != second.members.shape:
        return f"the number of models ({len(first.members)} and {len(second.members)})"
    if not np.array_equal(first.members, second.members):
        return "the training sets (another seed, design or fraction)"
    return ""


def check_same(
    named: Sequence[tuple[str, Design]], *, allow_different_designs: bool = False
) -> bool:
    """Whether all agree with the first. Raises ValueError when not, unless that is allowed."""
    label, reference = named[0]
    for other, design in named[1:]:
        differing = disagreement(reference, design)
        if differing and not allow_different_designs:
            raise ValueError(
                f"{label} and {other} differ in {differing}, so their differences are not due to "
                "the defence alone; narrow runs=…, or set allow_different_designs=true to compare "
                "them unpaired."
            )
        if differing:
            return False
    return True
