"""Convergence over the number of models: the same table on the first rows."""

import numpy as np
import pytest

from mia_audit.stats.convergence import SLOW_METHODS, convergence, doubling_sizes
from mia_audit.stats.evaluation import evaluate


def draw(num_models=40, num_records=30, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((num_models, num_records)) < 0.5
    return rng.standard_normal(members.shape) + members, members


def test_sizes_double_up_to_the_whole_sweep():
    assert doubling_sizes(128) == [16, 32, 64, 128]
    assert doubling_sizes(100) == [16, 32, 64, 100]
    assert doubling_sizes(9) == [9]


def test_points_are_those_of_an_evaluation_of_the_first_models():
    scores, members = draw()
    points = convergence(scores, members, alphas=(0.2, 0.05))
    assert sorted({point.num_models for point in points}) == [16, 32, 40]
    for size in (16, 40):
        evaluation = evaluate(scores[:size], members[:size], alphas=(0.2, 0.05))
        found = [point for point in points if point.num_models == size]
        methods = {point.method for point in evaluation.points}
        assert len(found) == 2 * len(methods - set(SLOW_METHODS))
        for point in found:
            same = evaluation.point(point.method, point.alpha)
            np.testing.assert_equal((point.tpr, point.fpr), (same.tpr, same.fpr))


def test_sizes_can_be_chosen_and_mistakes_are_named():
    scores, members = draw()
    points = convergence(scores, members, alphas=(0.2,), sizes=(20, 30))
    assert {point.num_models for point in points} == {20, 30}
    with pytest.raises(ValueError, match="between 0 and 1"):
        convergence(scores, members, alphas=(2.0,))
