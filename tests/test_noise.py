"""Further models for the share of training noise: which they are, and what they say."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mia_audit.data import Dataset, draw_pool
from mia_audit.defences.none import NoDefence
from mia_audit.noise import Origin, TwoFrames, TwoSeeds
from mia_audit.plan import Plan, plan_sweep
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats.reference import gaussian_means
from tests.integration.stand_ins import Noise, blobs

SHARE = 0.4


def planned(origin: Origin, num_records: int | None, **settings: Any) -> Plan:
    pool = draw_pool(origin.dataset, num_records, seed=origin.seed, balanced=origin.balanced)
    return plan_sweep(pool, Noise(), NoDefence(), seed=origin.seed, **{"num_models": 12} | settings)


def origin_of(num_records: int, *, balanced: bool = False, seed: int = 3) -> Origin:
    return Origin(blobs(num_records), seed, balanced)


def test_the_same_training_sets_are_trained_from_other_seeds() -> None:
    origin = origin_of(60)
    plan = planned(origin, 40)
    (further,) = TwoSeeds(8).plans(plan, origin)
    assert further.dataset is plan.dataset
    np.testing.assert_array_equal(further.members, plan.members[:8])
    assert not set(further.seeds) & set(plan.seeds)
    assert further.key != plan.key
    (more,) = TwoSeeds(99).plans(plan, origin)  # never more than there are training sets
    assert (more.num_models, more.key) == (12, further.key)
    np.testing.assert_array_equal(more.seeds[:8], further.seeds)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("design", ["bernoulli", "fixed_size", "balanced"])
def test_frames_are_nested_and_training_sets_have_one_size(design: str, balanced: bool) -> None:
    origin = origin_of(900, balanced=balanced)
    plan = planned(origin, 80, design=design)
    small, large = TwoFrames(9).plans(plan, origin)
    assert (small.dataset.num_records, large.dataset.num_records) == (50, 400)
    assert set(small.dataset.rows) <= set(plan.dataset.rows) & set(large.dataset.rows)
    for frame in (small, large):
        assert set(frame.members.sum(axis=1)) == {40}
        assert frame.num_models == 9


def test_a_small_table_is_its_own_large_frame_and_a_smaller_one_is_refused() -> None:
    origin = origin_of(80)
    _, large = TwoFrames(9).plans(planned(origin, 80), origin)
    assert large.dataset.num_records == 80
    with pytest.raises(ValueError, match=r"population.noise=frames: training sets of 56 need"):
        TwoFrames(9).plans(planned(origin, 80, fraction=0.7), origin)


def test_training_sets_that_leave_the_small_frame_no_records_are_refused() -> None:
    """The correction needs num_train + 2 records; 5/4 of 4 is 5, of 6 it is 8."""
    origin = origin_of(900)
    for num_records, size in ((20, 2), (40, 4)):
        plan = planned(origin, num_records, fraction=0.1, design="fixed_size")
        assert plan.num_train == size
        with pytest.raises(
            ValueError, match=rf"sets of {size} need frames of {size + 2} .* larger"
        ):
            TwoFrames(9).plans(plan, origin)
    plan = planned(origin, 60, fraction=0.1, design="fixed_size")
    small, _ = TwoFrames(9).plans(plan, origin)
    assert small.dataset.num_records == 8


def matrix_of(scores: np.ndarray, members: np.ndarray, rows: np.ndarray) -> ScoreMatrix:
    unknown = np.full(len(scores), np.nan, dtype=np.float32)
    return ScoreMatrix(scores.astype(np.float32), members, rows, unknown, unknown)


def test_two_seeds_find_a_planted_share() -> None:
    """Within .07 with the default number of further models."""
    found = []
    for seed in range(6):
        drawn = gaussian_means(64, 300, 150, 60, design="fixed_size", seed=seed)
        noise = np.random.default_rng((seed, 2)).standard_normal((2, *drawn.scores.shape))
        scores = drawn.scores + noise * drawn.sd_out * np.sqrt(SHARE / (1 - SHARE))
        first = matrix_of(scores[0], drawn.members, np.arange(300))
        second = matrix_of(scores[1, :32], drawn.members[:32], np.arange(300))
        estimate = TwoSeeds(32).estimate(first, [second])
        assert estimate.source == "two seeds on each of 32 training sets"
        found.append((estimate.inside, estimate.outside))
    np.testing.assert_allclose(np.mean(found, axis=0), SHARE, atol=0.07)


def frame_scores(plan: Plan, vectors: np.ndarray, rng: np.random.Generator) -> ScoreMatrix:
    """Scores ⟨mean of the members, x⟩ with training noise beside the sampling of N records."""
    own = vectors[plan.dataset.rows]
    scores = plan.members.astype(float) @ own @ own.T / plan.num_train
    sampling = np.sqrt((own**2).sum(axis=1) / plan.num_train)
    noise = rng.standard_normal(scores.shape) * sampling * np.sqrt(SHARE / (1 - SHARE))
    return matrix_of(scores + noise, plan.members, plan.dataset.rows)


def test_two_frames_find_a_planted_share() -> None:
    dataset: Dataset = replace(blobs(1200), rows=np.arange(1200))
    found = []
    for seed in range(6):
        origin = Origin(dataset, seed, balanced=False)
        plan = planned(origin, 200, num_models=64)
        rng = np.random.default_rng((seed, 5))
        vectors = rng.standard_normal((1200, 50))
        small, large = (frame_scores(p, vectors, rng) for p in TwoFrames(64).plans(plan, origin))
        estimate = TwoFrames(64).estimate(small, [small, large])
        assert estimate.source == "64 models on each of two pools, 125 and 1,000 records"
        found.append((estimate.inside, estimate.outside))
    np.testing.assert_allclose(np.mean(found, axis=0), SHARE, atol=0.07)
