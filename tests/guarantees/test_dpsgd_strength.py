"""Promise: DP-SGD's ε moves both axes of a comparison as it must, on really trained networks.

One pool of Adult with as many high as low incomes, one design, the same seeds: differences are
paired.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mia_audit.compare.pairing import mean_difference
from mia_audit.data import Adult, draw_pool
from mia_audit.defences.dpsgd import DPSGD
from mia_audit.models.mlp import MLP
from mia_audit.plan import plan_sweep
from mia_audit.stats import evaluate
from mia_audit.stats.differences import tpr_differences
from mia_audit.train_shard import ShardWork, train_shard

pytest.importorskip("opacus")
pytestmark = pytest.mark.slow

NUM_RECORDS, NUM_MODELS, ALPHA = 400, 64, 0.1
MODEL = MLP(hidden=[64], epochs=30, batch=64)
Sweep = tuple[np.ndarray, np.ndarray, np.ndarray]  # scores, members [M, N], test accuracy [M]


@cache
def sweep(epsilon: float) -> Sweep:
    """Models at this ε; inf has clipped gradients and no noise."""
    pool = draw_pool(Adult().load(), NUM_RECORDS, seed=0, balanced=True)
    if np.isinf(epsilon):
        defence = DPSGD(epsilon=None, noise_multiplier=0.0)
    else:
        defence = DPSGD(epsilon=epsilon)
    plan = plan_sweep(pool, MODEL, defence, num_models=NUM_MODELS)
    work = ShardWork(range(NUM_MODELS), plan.members, plan.seeds, plan.num_train, "cpu")
    shards = train_shard(pool, MODEL, plan.ready_defence(), work).shards
    scores = np.concatenate([shard.scores for shard in shards])
    return scores, plan.members, np.concatenate([shard.test_accuracy for shard in shards])


@pytest.mark.parametrize(("strong", "weak"), [(1.0, 8.0), (8.0, np.inf)])
def test_a_smaller_epsilon_costs_accuracy_and_buys_privacy(
    strong: float, weak: float, capsys: pytest.CaptureFixture[str]
) -> None:
    (private, members, low), (open_, _, high) = sweep(strong), sweep(weak)
    gain, lower, upper = mean_difference(high, low)
    (leak,) = tpr_differences(open_, private, members, alphas=(ALPHA,))
    with capsys.disabled():
        print(
            f"\nε {strong:g} → {weak:g}: accuracy {low.mean():.3f} → {high.mean():.3f},"
            f" difference {gain:.3f} [{lower:.3f}, {upper:.3f}]; TPR at {ALPHA:g} differs by"
            f" {leak.difference:.4f} [{leak.lower:.4f}, {leak.upper:.4f}]"
        )
    assert lower > 0
    assert leak.lower > 0


def test_at_a_vanishing_epsilon_members_are_found_at_the_false_positive_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scores, members, accuracy = sweep(0.01)
    found = evaluate(scores, members, alphas=(ALPHA, 0.01))
    for alpha in (ALPHA, 0.01):
        point = found.point("post_empirical", alpha)
        with capsys.disabled():
            print(
                f"\nε 0.01, accuracy {accuracy.mean():.3f}: TPR {point.tpr:.4f} "
                f"[{point.lower:.4f}, {point.upper:.4f}] at FPR {alpha:g}"
            )
        assert point.lower <= alpha <= point.upper
        assert (
            point.tpr
            < evaluate(*sweep(8.0)[:2], alphas=(alpha,)).point("post_empirical", alpha).tpr
        )
    assert abs(found.auc - 0.5) < 0.01
