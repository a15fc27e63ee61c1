"""The share of a score's variance that is not due to the training set, found by further models.

The finite-population correction enlarges the variance over training sets alone. What training
itself adds (initialisation, order of batches) must be left as it is, so it is measured: by two
seeds on each training set, or by two frames of different size at one size of training set
(Cochran 1977; `stats.finite_population` has the formulas).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mia_audit.data import Dataset, draw_pool
from mia_audit.plan import Plan, plan_sweep, with_other_seeds
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.finite_population import noise_share_of_frames, noise_share_of_seeds
from mia_audit.stats.population import NoiseEstimate

FRAME_STREAM = 0x6672616D  # keeps the draw of the small frame apart from others of the same seed
SMALL, LARGE = 0.8, 0.1  # shares of the frames that a training set is
LEAST_RATIO = 1.25  # of the frames' sizes, else their variances are too close to be told apart


@dataclass(frozen=True, eq=False)
class Origin:
    """The table that the pool was drawn from, and how."""

    dataset: Dataset
    seed: int
    balanced: bool


class NoiseSource(Protocol):
    """A way to measure the share: which models it needs, and what they say."""

    def plans(self, plan: Plan, origin: Origin) -> tuple[Plan, ...]: ...
    def estimate(self, matrix: ScoreMatrix, extra: Sequence[ScoreMatrix]) -> NoiseEstimate: ...


@dataclass(frozen=True)
class TwoSeeds:
    """`num_models` of the sweep's training sets are trained once more, from other seeds."""

    num_models: int

    def plans(self, plan: Plan, origin: Origin) -> tuple[Plan, ...]:
        """One plan on the sweep's own pool."""
        return (with_other_seeds(plan, min(self.num_models, plan.num_models)),)

    def estimate(self, matrix: ScoreMatrix, extra: Sequence[ScoreMatrix]) -> NoiseEstimate:
        """From the sweep's `matrix` and the further models."""
        (second,) = extra
        scores = np.stack([matrix.scores[: second.num_models], second.scores])
        shares = noise_share_of_seeds(
            scores, second.members, num_train=float(second.members.sum(axis=1).mean())
        )
        return NoiseEstimate(*shares, f"two seeds on each of {second.num_models} training sets")


@dataclass(frozen=True)
class TwoFrames:
    """`num_models` on each of two pools, one within the other, with training sets of one size."""

    num_models: int

    def plans(self, plan: Plan, origin: Origin) -> tuple[Plan, ...]:
        """Plans on a small frame (part of the pool) and on a large one that contains it.

        Training sets have the sweep's size N; the frames have N/0.8 and N/0.1 records, or as many
        as there are. Raises ValueError when the table is too small for two frames, or a frame
        would leave fewer than two records out (`finite_population_factor`).
        """
        pool, num_train = plan.dataset, plan.num_train
        large = draw_pool(
            origin.dataset,
            min(round(num_train / LARGE), _most_records(origin)),
            seed=origin.seed,
            balanced=origin.balanced,
        )
        shared = np.flatnonzero(np.isin(pool.rows, large.rows))
        size = round(num_train / SMALL)
        too_few = size > len(shared) or large.num_records < LEAST_RATIO * size
        too_small = size < num_train + 2
        if too_few or too_small:
            size = max(size, num_train + 2)
            raise ValueError(
                f"population.noise=frames: training sets of {num_train:,} need frames of {size:,} "
                f"records of the pool and of at least {round(LEAST_RATIO * size):,}; use a "
                f"{'larger' if too_small else 'smaller'} num_records or fraction, or "
                "population.noise=seeds."
            )
        rng = np.random.default_rng([origin.seed, FRAME_STREAM])
        small = pool.take(np.sort(rng.permutation(shared)[:size]))
        return tuple(
            plan_sweep(
                frame,
                plan.model,
                plan.defence,
                num_models=self.num_models,
                design="fixed_size",
                fraction=num_train / frame.num_records,
                seed=origin.seed,
            )
            for frame in (small, large)
        )

    def estimate(self, matrix: ScoreMatrix, extra: Sequence[ScoreMatrix]) -> NoiseEstimate:
        """From both frames, judged on the records of the small one."""
        small, large = extra
        columns = np.flatnonzero(np.isin(large.record_ids, small.record_ids))
        shares = noise_share_of_frames(
            (small.scores, small.members),
            (large.scores[:, columns], large.members[:, columns]),
            num_train=float(small.members[0].sum()),
            num_pool_small=small.num_records,
            num_pool_large=large.num_records,
        )
        sizes = f"{small.num_records:,} and {large.num_records:,} records"
        return NoiseEstimate(*shares, f"{small.num_models} models on each of two pools, {sizes}")


def _most_records(origin: Origin) -> int:
    if not origin.balanced:
        return origin.dataset.num_records
    counts = origin.dataset.class_counts
    present = counts[counts > 0]
    return int(present.min()) * len(present)
