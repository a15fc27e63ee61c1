"""Set-level selection (PTDI) judged on models whose training sets are known.

Letters: M models, N records; z float [M, N] standardised scores, higher = more likely a member;
n calibration non-members, m candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.member_share import NoScaling, ShareEstimator, Storey, Subtraction
from mia_audit.stats.privacy_bounds import check_level
from mia_audit.stats.ptdi_target import (
    TargetSelection,
    TargetSplit,
    checked_audit_scores,
    select_for_target,
    split_target,
)
from mia_audit.stats.selection import EQUALITY, Selection, adjusted_p_values
from mia_audit.stats.threads import in_threads

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
ESTIMATORS: tuple[ShareEstimator, ...] = (Subtraction(), Storey(), NoScaling())


@dataclass(frozen=True)
class SelectionCurve:
    """One estimator at one level, averaged over targets, with 95 % t intervals over targets.

    The intervals are approximate, as a rule too narrow: targets share their shadow models.
    ``share_estimate`` is the mean π̂₀, ``share_truth`` the mean true share of non-members.
    """

    estimator: str
    alpha: float
    fdr: float
    fdr_lower: float
    fdr_upper: float
    power: float
    power_lower: float
    power_upper: float
    share_estimate: float
    share_lower: float
    share_upper: float
    share_truth: float
    selected: float


@dataclass(frozen=True, eq=False)
class SelectionAudit:
    """The named target's selection and, over all usable targets, what selection achieves."""

    target: int
    named: TargetSelection
    curves: list[SelectionCurve]
    num_targets: int
    nan_entries: int

    @property
    def selection(self) -> Selection:
        return self.named.selection

    @property
    def selected_records(self) -> Indices:
        return self.named.selected_records

    @property
    def false_discovery_proportion(self) -> float:
        return self.named.false_discovery_proportion

    @property
    def power(self) -> float:
        return self.named.power

    @property
    def note(self) -> str:
        return self.named.note


def audit_selection(
    z: ArrayLike,
    members: ArrayLike,
    *,
    alpha: float = 0.1,
    estimator: ShareEstimator = Subtraction(),  # noqa: B008 (a frozen value)
    member_share: float = 0.5,
    target: int = 0,
    seed: int = 0,
    levels: Sequence[float] = LEVELS,
    estimators: Sequence[ShareEstimator] = ESTIMATORS,
) -> SelectionAudit:
    """Run PTDI with every model as the target once; report one target and the averages over all.

    ``z`` [M, N] (NaN entries are dropped and counted), ``members`` bool [M, N].  Each target's
    non-members are halved at random, by (seed, target) and independently of the scores, into
    calibration and test records; members join the test records so that their share is
    ``member_share``, keeping as many records as possible.  Targets with too few records are left
    out of the averages.  ``estimator`` comes first among the curves, in place of any of its name,
    and ``alpha`` joins the levels.

    Raises ValueError for mismatched shapes, levels outside (0, 1), an unknown target, or a named
    target with too few records.
    Source: arXiv 2510.09717.  Averages over targets are correlated (shared shadows): for an honest
    error of the achieved rates repeat the design.
    """
    z, members = checked_audit_scores(z, members)
    if not 0 <= target < len(z):
        raise ValueError(f"target must be a model index from 0 to {len(z) - 1}, got {target!r}.")
    named = select_for_target(
        z[target],
        members[target],
        alpha=alpha,
        estimator=estimator,
        member_share=member_share,
        seed=seed,
        target=target,
    )
    estimators = (estimator, *(e for e in estimators if e.name != estimator.name))
    alphas = np.unique([*levels, alpha])
    for level in alphas:
        check_level("each of levels", level)

    def rates(index: int) -> list[Floats]:
        """Of one target; nothing where it has too few records."""
        split = split_target(z[index], members[index], member_share, (seed, index))
        return list(_rates(split, estimators, alphas)) if split.usable else []

    tables = np.array([table for table in in_threads(rates, range(len(z))) if table])
    return SelectionAudit(
        target=target,
        named=named,
        curves=_curves(tables, [e.name for e in estimators], alphas),
        num_targets=len(tables),
        nan_entries=int(np.isnan(z).sum()),
    )


def _rates(
    split: TargetSplit, estimators: Sequence[ShareEstimator], alphas: Floats
) -> Iterator[Floats]:
    """Per estimator a table [level, 5]: FDP, power, π̂₀, true π₀, number selected."""
    calibration, candidates = split.z[split.calibration], split.z[split.candidates]
    adjusted = adjusted_p_values(conformal_p_values(calibration, candidates))
    num_in = int(split.is_member.sum())
    truth = 1 - num_in / candidates.size
    in_sorted, all_sorted = np.sort(adjusted[split.is_member]), np.sort(adjusted)
    for estimator in estimators:
        share = estimator.share(calibration, candidates)
        cut = alphas * (1 + EQUALITY) / share
        selected = np.searchsorted(all_sorted, cut, side="right")
        hits = np.searchsorted(in_sorted, cut, side="right")
        wrong = (selected - hits) / np.maximum(1, selected)
        power = hits / num_in if num_in else np.full(alphas.size, np.nan)
        constant = np.ones(alphas.size)
        yield np.stack([wrong, power, share * constant, truth * constant, selected], axis=1)


def _curves(tables: Floats, names: list[str], alphas: Floats) -> list[SelectionCurve]:
    """Average ``tables`` [target, estimator, level, 5] over targets."""
    mean = tables.mean(axis=0)
    count = len(tables)
    spread = tables.std(axis=0, ddof=1) if count > 1 else np.full(mean.shape, np.nan)
    reach = scipy.stats.t.ppf(0.975, count - 1) * spread / np.sqrt(count)
    lower, upper = np.maximum(0, mean - reach), np.minimum(1, mean + reach)
    upper[:, :, 2] = (mean + reach)[:, :, 2]  # π̂₀ is not clipped at 1
    return [
        SelectionCurve(
            estimator=name,
            alpha=float(alpha),
            fdr=float(mean[i, j, 0]),
            fdr_lower=float(lower[i, j, 0]),
            fdr_upper=float(upper[i, j, 0]),
            power=float(mean[i, j, 1]),
            power_lower=float(lower[i, j, 1]),
            power_upper=float(upper[i, j, 1]),
            share_estimate=float(mean[i, j, 2]),
            share_lower=float(lower[i, j, 2]),
            share_upper=float(upper[i, j, 2]),
            share_truth=float(mean[i, j, 3]),
            selected=float(mean[i, j, 4]),
        )
        for i, name in enumerate(names)
        for j, alpha in enumerate(alphas)
    ]
