"""Set-level selection under every share estimator (arXiv 2510.09717, ablations).

Non-members N(0, 1), members N(shift, 1); the tail η that subtraction reads, the share π of members
among m candidates and the number n of calibration scores are varied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from mia_audit.simulate.checks import Check, half_width, repeat_seeds
from mia_audit.simulate.settings import PTDIAblation
from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.member_share import Moment, NoScaling, ShareEstimator, Storey, Subtraction
from mia_audit.stats.selection import EQUALITY, adjusted_p_values

ETAS = (0.01, 0.05, 0.1, 0.5)
MEMBER_SHARES = (0.3, 0.5, 0.7)
RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CONFIRMED = 100  # members known to Moment
MOMENT_EXCESS = 0.01  # Moment promises its level approximately

# Power at n = m, by (estimator, π), known to half a hundredth at these settings alone.
KNOWN = PTDIAblation(num_candidates=500, alpha=0.1, shift=2.0)
KNOWN_POWER = {("subtraction η=0.05", 0.5): 0.70, ("subtraction η=0.05", 0.3): 0.48}
KNOWN_ROUNDING = 0.005


@dataclass(frozen=True)
class AblationRow:
    """One estimator in one setting: means over repeats, ± their tolerances."""

    estimator: str
    member_share: float
    ratio: float  # n/m
    fdr: float
    fdr_tolerance: float
    power: float
    power_tolerance: float
    share_estimate: float  # mean π̂₀
    share_truth: float


def simulate_ablation(settings: PTDIAblation, seed: int) -> list[AblationRow]:
    """Every estimator at every π and n/m, on the same draws."""
    rows: list[AblationRow] = []
    for place, share in enumerate(MEMBER_SHARES):
        for ratio in RATIOS:
            stream = 1000 + 100 * place + round(100 * ratio)
            seeds = repeat_seeds(seed, settings.repeats, stream=stream)
            found = [_repeat(settings, share, ratio, repeat) for repeat in seeds]
            truth = 1 - round(share * settings.num_candidates) / settings.num_candidates
            for name in found[0]:
                values = np.array([outcome[name] for outcome in found])
                rows.append(_row(name, share, ratio, values, truth))
    return rows


def checks(settings: PTDIAblation, rows: list[AblationRow]) -> list[Check]:
    """One promise an estimator and π: the false-discovery rate at the worst n/m, and known powers.

    The worst n/m is the one that reaches furthest above the level beyond its tolerance.
    """
    return [*_promises(settings, rows), *_known_powers(settings, rows)]


def table(rows: list[AblationRow]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]


def _repeat(
    settings: PTDIAblation, share: float, ratio: float, seed: int
) -> dict[str, tuple[float, float, float]]:
    """FDP, power and π̂₀ of every estimator on one draw."""
    rng = np.random.default_rng(seed)
    m = settings.num_candidates
    is_member = np.arange(m) < round(share * m)
    candidates = rng.standard_normal(m) + settings.shift * is_member
    calibration = rng.standard_normal(max(2, round(ratio * m)))
    confirmed = rng.standard_normal(CONFIRMED) + settings.shift
    adjusted = adjusted_p_values(conformal_p_values(calibration, candidates))
    judge = partial(_outcome, adjusted, is_member, settings.alpha)
    return {
        name: judge(estimator.share(calibration, candidates))
        for name, estimator in _estimators(confirmed).items()
    }


def _estimators(confirmed: np.ndarray) -> dict[str, ShareEstimator]:
    return {
        **{f"subtraction η={eta:g}": Subtraction(eta=eta) for eta in ETAS},
        "storey": Storey(),
        "moment": Moment(confirmed),
        "none": NoScaling(),
    }


def _outcome(
    adjusted: np.ndarray, is_member: np.ndarray, alpha: float, share: float
) -> tuple[float, float, float]:
    selected = share * adjusted <= alpha * (1 + EQUALITY)
    hits = int((selected & is_member).sum())
    count = int(selected.sum())
    return (count - hits) / max(1, count), hits / max(1, int(is_member.sum())), share


def _row(name: str, share: float, ratio: float, values: np.ndarray, truth: float) -> AblationRow:
    fdr, power, estimate = values.mean(axis=0)
    return AblationRow(
        name, share, ratio, float(fdr), half_width(values[:, 0]),
        float(power), half_width(values[:, 1]), float(estimate), truth,
    )  # fmt: skip


def _promises(settings: PTDIAblation, rows: list[AblationRow]) -> Iterator[Check]:
    for name in dict.fromkeys(row.estimator for row in rows):
        for share in MEMBER_SHARES:
            chosen = [row for row in rows if (row.estimator, row.member_share) == (name, share)]
            worst = max(chosen, key=lambda row: row.fdr - row.fdr_tolerance)
            level = settings.alpha + (MOMENT_EXCESS if name == "moment" else 0.0)
            yield Check(f"FDR, {name}, π = {share:g}", level, worst.fdr, worst.fdr_tolerance, True)


def _known_powers(settings: PTDIAblation, rows: list[AblationRow]) -> Iterator[Check]:
    sizes = ("num_candidates", "alpha", "shift")
    if any(getattr(settings, key) != getattr(KNOWN, key) for key in sizes):
        return
    for (name, share), power in KNOWN_POWER.items():
        for row in rows:
            if (row.estimator, row.member_share, row.ratio) == (name, share, 1.0):
                tolerance = row.power_tolerance + KNOWN_ROUNDING
                yield Check(f"Power, {name}, π = {share:g}", power, row.power, tolerance)
