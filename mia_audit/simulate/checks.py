"""What was expected beside what a simulation gave, with the error that repeats leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

CHANCE = 6.3e-5  # that a true expectation is missed: four standard errors of a normal mean


class Verdict(Enum):
    """What a check says in a word."""

    AGREES = "agrees"
    DIFFERS = "differs"
    KEPT = "kept"
    BROKEN = "broken"

    @property
    def passed(self) -> bool:
        return self in (Verdict.AGREES, Verdict.KEPT)


@dataclass(frozen=True)
class Check:
    """One quantity: expected, observed, and the tolerance ± that chance and rounding allow.

    With `is_bound` the expected value is a promised upper bound.
    """

    quantity: str
    expected: float
    observed: float
    tolerance: float
    is_bound: bool = False

    @property
    def verdict(self) -> Verdict:
        if self.is_bound:
            kept = self.observed <= self.expected + self.tolerance
            return Verdict.KEPT if kept else Verdict.BROKEN
        close = abs(self.observed - self.expected) <= self.tolerance
        return Verdict.AGREES if close else Verdict.DIFFERS

    def row(self) -> dict[str, object]:
        """As a row of a table."""
        return {
            "quantity": self.quantity,
            "expected": self.expected,
            "relation": "at most" if self.is_bound else "equal",
            "observed": self.observed,
            "tolerance": self.tolerance,
            "verdict": self.verdict.value,
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """All of one simulation: checks to print, `tables` (rows) and `figures` (PNG) by name."""

    title: str
    sentence: str
    checks: list[Check]
    tables: dict[str, Sequence[dict[str, object]]] = field(default_factory=dict)
    figures: dict[str, bytes] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return all(check.verdict.passed for check in self.checks)


def check_mean(
    quantity: str,
    expected: float,
    repeats: ArrayLike,
    *,
    rounding: float = 0.0,
    is_bound: bool = False,
) -> Check:
    """Compare the mean of independent repeats [R] with what was expected.

    The tolerance is a t interval that a true expectation leaves with probability `CHANCE`, plus
    `rounding`, the half unit to which a published figure is given.
    """
    values = np.asarray(repeats, dtype=np.float64)
    tolerance = half_width(values) + rounding
    return Check(quantity, expected, float(values.mean()), tolerance, is_bound)


def half_width(values: ArrayLike) -> float:
    """Half the width of the interval around the mean of independent values [R], R ≥ 2."""
    sample = np.asarray(values, dtype=np.float64)
    quantile = float(stats.t.isf(CHANCE / 2, sample.size - 1))
    return quantile * float(sample.std(ddof=1)) / float(np.sqrt(sample.size))


def repeat_seeds(seed: int, repeats: int, *, stream: int) -> list[int]:
    """One seed a repeat; different for every `stream`, one a simulation."""
    drawn = np.random.SeedSequence((seed, stream)).generate_state(repeats, dtype=np.uint32)
    return [int(value) for value in drawn]
