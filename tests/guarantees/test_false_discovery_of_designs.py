"""Promise: PTDI keeps its level over repeats of a real design, where the scores of calibration and
test records come from the same shadow models.

Each repeat draws a pool of Adult, membership and seeds anew, trains every network, and selects for
every one of them as the target. Targets of a design share its models, so the design is the unit of
the error.
"""

from __future__ import annotations

import numpy as np
import pytest

from mia_audit.data import Adult, draw_pool
from mia_audit.data.dataset import Dataset
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import plan_sweep
from mia_audit.stats.ptdi_audit import audit_selection
from mia_audit.stats.standardisation import standardise
from mia_audit.train_shard import ShardWork, train_shard

NUM_RECORDS, NUM_MODELS, DESIGNS, FEW = 600, 64, 100, 5
ALPHAS = (0.05, 0.1, 0.2, 0.5)
MODEL = MLP(hidden=[16], epochs=20, batch=64, learning_rate=0.01)


def outcomes(table: Dataset, seed: int) -> dict[str, list[tuple[float, float]]]:
    """FDP and power, averaged over targets, at each level by estimator."""
    pool = draw_pool(table, NUM_RECORDS, seed=seed, balanced=True)
    plan = plan_sweep(pool, MODEL, NoDefence(), num_models=NUM_MODELS, seed=seed)
    work = ShardWork(range(NUM_MODELS), plan.members, plan.seeds, plan.num_train, "cpu")
    trained = train_shard(pool, MODEL, NoDefence(), work)
    assert not trained.failed
    scores = np.concatenate([shard.scores for shard in trained.shards])
    audit = audit_selection(
        standardise(scores, plan.members), plan.members, alpha=0.1, levels=ALPHAS, seed=seed
    )
    assert audit.num_targets == NUM_MODELS
    found: dict[str, list[tuple[float, float]]] = {}
    for curve in audit.curves:
        found.setdefault(curve.estimator, []).append((curve.fdr, curve.power))
    return found


def repeated(designs: int) -> dict[str, np.ndarray]:
    """By estimator an array [design, level, (FDP, power)]."""
    table = Adult().load()
    repeats = [outcomes(table, seed) for seed in range(designs)]
    return {name: np.array([repeat[name] for repeat in repeats]) for name in repeats[0]}


def assert_scaling_finds_more(found: dict[str, np.ndarray], levels: int) -> None:
    """At the last `levels` of the levels; at lower ones a few designs may find nothing."""
    power = {name: values[:, -levels:, 1].mean(axis=0) for name, values in found.items()}
    assert set(power) == {"subtraction", "storey", "none"}
    assert np.all(power["subtraction"] > power["none"])
    assert np.all(power["storey"] > power["none"])


def test_a_few_real_designs_lie_below_the_diagonal_and_scaling_finds_more() -> None:
    found = repeated(FEW)
    for values in found.values():
        assert np.all(values[:, :, 0].mean(axis=0) <= ALPHAS)
    assert_scaling_finds_more(found, 2)


@pytest.mark.slow
def test_real_designs_keep_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    found = repeated(DESIGNS)
    for name, values in found.items():
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(DESIGNS)
        with capsys.disabled():
            for alpha, (fdr, power), (spread, _) in zip(ALPHAS, mean, error, strict=True):
                print(f"{name}: FDR {fdr:.4f} ± {spread:.4f} at {alpha:g}, power {power:.4f}")
        assert np.all(mean[:, 0] <= np.array(ALPHAS) + 3 * error[:, 0]), name
    assert_scaling_finds_more(found, len(ALPHAS))
