"""The bound on the false discovery proportion at every cut-off, and a short table of it.

Letters: m candidates.  A cut-off t calls every candidate with p ≤ t; the bounds hold for all
cut-offs together, so that one may be chosen after looking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mia_audit.identify.selecting import Identified

SHOWN = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class CutOff:
    """Of `called` candidates with p ≤ `p_value`, at most the share `bound` are not members."""

    p_value: float
    called: int
    bound: float
    is_selection: bool = False

    @property
    def at_least_members(self) -> int:
        return int(np.floor(self.called * (1 - self.bound) + 1e-9))


def every_cutoff(result: Identified) -> list[CutOff]:
    """One entry a distinct p-value, ascending."""
    p_values, first, counts = np.unique(
        result.selection.p_values, return_index=True, return_counts=True
    )
    chosen = result.selection.indices
    last = result.selection.p_values[chosen].max() if chosen.size else -1.0
    columns = zip(p_values, np.cumsum(counts), result.bounds[first], strict=True)
    return [CutOff(float(p), int(c), float(b), bool(p == last)) for p, c, b in columns]


def shown_cutoffs(cutoffs: list[CutOff]) -> list[CutOff]:
    """The last cut-off at or below each of `SHOWN` and the selection's own, no two the same."""
    p_values = np.array([cut.p_value for cut in cutoffs])
    last = np.searchsorted(p_values, SHOWN, side="right") - 1
    kept = {int(i) for i in last if i >= 0}
    kept |= {i for i, cut in enumerate(cutoffs) if cut.is_selection}
    return [cutoffs[i] for i in sorted(kept)]
