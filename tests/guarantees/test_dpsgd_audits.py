"""Promise: an audit of DP-SGD rarely measures more ε than the accountant allows, and finds out
training that claims its ε without adding the noise.

Whole audits of really trained networks, each on a table, a design and seeds of its own. Labels are
coins, which a network can only learn by heart: nothing leaks more.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from mia_audit.attacks import LiRA
from mia_audit.audit import AuditResult, AuditSettings, audit
from mia_audit.data.dataset import Dataset
from mia_audit.defences.dpsgd import DPSGD
from mia_audit.models.mlp import MLP
from mia_audit.plan import plan_sweep
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.train_shard import ShardWork, train_shard
from tests.defences.unnoised import Unnoised
from tests.models.tables import make_table

pytest.importorskip("opacus")

NUM_RECORDS, NUM_MODELS, DELTA = 200, 64, 1e-5
MODEL = MLP(hidden=[32], epochs=10, batch=NUM_RECORDS // 2, learning_rate=0.01)
LEVEL, CHANCE = 0.05, 0.001  # of one bound to fail; of a test to fail with sound bounds


def coin_table(seed: int) -> Dataset:
    rng = np.random.default_rng([seed, 8])
    table, labels = rng.standard_normal((NUM_RECORDS, 50)), rng.integers(0, 2, NUM_RECORDS)
    return make_table(table, labels, 2)


def audited(defence: DPSGD, seed: int, *, alpha: float = 0.1) -> AuditResult:
    """One audit from the table to the verdict, as the job makes it but in this process."""
    plan = plan_sweep(coin_table(seed), MODEL, defence, num_models=NUM_MODELS, seed=seed)
    work = ShardWork(range(NUM_MODELS), plan.members, plan.seeds, plan.num_train, "cpu")
    trained = train_shard(plan.dataset, plan.model, plan.ready_defence(), work)
    assert not trained.failed
    scores = np.concatenate([shard.scores for shard in trained.shards])
    settings = AuditSettings(
        attack=LiRA(),
        alphas=(alpha,),
        claimed_epsilon=defence.claimed_epsilon(MODEL, num_train=plan.num_train),
        claimed_delta=DELTA,
    )
    return audit(ScoreMatrix.external(scores, plan.members), settings)


def assert_rarely_refuted(defence: DPSGD, repeats: int, alpha: float) -> None:
    results = [audited(defence, seed, alpha=alpha) for seed in range(repeats)]
    bounds = np.array([result.epsilon_measured for result in results])
    refuted = sum(result.refutes_claim for result in results)
    print(
        f"ε {defence.epsilon:g}, cut-off at {alpha:g}: {refuted} of {repeats} refuted; "
        f"measured mean {bounds.mean():.3f}, greatest {bounds.max():.3f}"
    )
    assert refuted <= binom.isf(CHANCE, repeats, LEVEL)


def test_a_few_audits_keep_below_the_accountant() -> None:
    assert_rarely_refuted(DPSGD(epsilon=1.0, delta=DELTA), 8, 0.1)


def test_forgotten_noise_is_found_out() -> None:
    assert all(audited(Unnoised(epsilon=1.0, delta=DELTA), seed).refutes_claim for seed in (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0])
def test_the_measured_bound_stays_below_the_accountant(
    epsilon: float, alpha: float, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        assert_rarely_refuted(DPSGD(epsilon=epsilon, delta=DELTA), 100, alpha)


@pytest.mark.slow
def test_forgotten_noise_is_always_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    results = [audited(Unnoised(epsilon=1.0, delta=DELTA), seed) for seed in range(100)]
    bounds = np.array([result.epsilon_measured for result in results])
    with capsys.disabled():
        print(f"without noise: measured from {bounds.min():.2f} to {bounds.max():.2f}")
    assert all(result.refutes_claim for result in results)
