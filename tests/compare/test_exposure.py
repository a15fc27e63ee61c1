"""The most exposed records: found where they are planted, shared where they are the same."""

import numpy as np

from mia_audit.compare.exposure import exposures, num_exposed, overlap, percentile
from mia_audit.score_matrix import ScoreMatrix
from tests.compare.sweeps import matrices

ALPHA = 0.01


def planted(exposed: np.ndarray, *, seed: int, num_models: int = 64) -> ScoreMatrix:
    """Membership raises the scores of the records `exposed` by six standard deviations."""
    members = np.random.default_rng(0).random((num_models, 1000)) < 0.5
    noise = np.random.default_rng(seed).standard_normal(members.shape)
    effect = np.zeros(1000)
    effect[exposed] = 6.0
    return ScoreMatrix.external((noise + effect * members).astype(np.float32), members)


def test_size_is_one_percent_and_at_least_ten() -> None:
    assert [num_exposed(n) for n in (5, 300, 4000)] == [5, 10, 40]


def test_the_same_records_overlap_wholly_and_others_not() -> None:
    same = [exposures(planted(np.arange(10), seed=s), (ALPHA,))[ALPHA] for s in (1, 2)]
    other = exposures(planted(np.arange(500, 510), seed=3), (ALPHA,))[ALPHA]
    assert overlap(same[0], same[1]) == 1.0
    assert overlap(same[0], same[0]) == 1.0
    assert overlap(same[0], other) == 0.0
    assert same[0].tpr > 0.95


def test_luck_is_not_exposure() -> None:
    """Without any effect the most exposed have no more than guessing, and overlap by chance."""
    nobody = np.arange(0)
    found = [exposures(planted(nobody, seed=s), (ALPHA,))[ALPHA] for s in range(20)]
    own = [overlap(one, one) for one in found]
    assert np.mean(own) < 0.05  # chance is 1%
    assert np.mean([one.tpr for one in found]) < 0.05


def test_too_few_models_give_no_answer() -> None:
    (matrix,) = matrices((1.0,), num_models=10, num_records=60)
    found = exposures(matrix, (0.1,))[0.1]
    assert np.isnan(found.tpr)
    assert np.isnan(overlap(found, found))


def test_percentile_leaves_out_unknown_records() -> None:
    assert percentile(np.array([*np.linspace(0, 1, 101), np.nan])) == 0.99
    assert np.isnan(percentile(np.array([np.nan])))
