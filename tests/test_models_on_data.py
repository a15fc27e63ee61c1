"""Every bundled data set with every kind of model, from configuration to audit, at tiny size."""

from pathlib import Path

import numpy as np
import pytest

from mia_audit import config
from mia_audit.audit import AuditResult, audit
from mia_audit.preparation import prepare
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.train_shard import ShardWork, train_shard

DATA = ("adult", "german_credit", "credit_default")
MODELS = {
    "mlp": ["model.epochs=10"],
    "logistic": [],
    "random_forest": ["model.params.n_estimators=15"],
    "gradient_boosting": ["model.params.max_iter=15"],
    "tabpfn_small": [],
}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tiny_audit(*arguments: str) -> tuple[ScoreMatrix, AuditResult, np.ndarray]:
    """The audit of a sweep trained here and now, and the labels of its pool."""
    prepared = prepare(config.compose("audit", list(arguments)).settings)
    plan = prepared.plan
    work = ShardWork(range(plan.num_models), plan.members, plan.seeds, plan.num_train, "cpu")
    result = train_shard(plan.dataset, plan.model, plan.defence, work)
    assert not result.failed
    matrix = ScoreMatrix(
        np.concatenate([shard.scores for shard in result.shards]),
        plan.members,
        plan.dataset.rows,
        np.concatenate([shard.train_accuracy for shard in result.shards]),
        np.concatenate([shard.test_accuracy for shard in result.shards]),
    )
    return matrix, audit(matrix, prepared.audit), plan.dataset.y


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dataset", DATA)
def test_audits(dataset: str, model: str) -> None:
    sizes = ["num_models=16", "num_records=300", "alphas=[0.1]", "dataset.balanced=true"]
    matrix, result, labels = tiny_audit(
        f"dataset={dataset}", f"model={model}", *MODELS[model], *sizes
    )
    assert np.isfinite(matrix.scores).all()
    # Half the records are of either class, so a model that has learned nothing is right on half;
    # 16 models agree on 300 records to within three standard errors of their share.
    assert matrix.test_accuracy.mean() > 0.5 + 3 * 0.5 / np.sqrt(len(labels))
    assert matrix.train_accuracy.mean() > matrix.test_accuracy.mean()
    point = result.evaluation.point("post_empirical", 0.1)
    assert 0 <= point.lower <= point.tpr <= point.upper <= 1


@pytest.mark.parametrize("experiment", ["adult_tabpfn", "credit_tabpfn"])
def test_the_papers_experiments_at_tiny_size(experiment: str) -> None:
    matrix, result, labels = tiny_audit(
        f"experiment={experiment}", "num_models=8", "num_records=160", "alphas=[0.1]"
    )
    assert matrix.scores.shape == (8, 160)
    if experiment == "adult_tabpfn":
        assert labels.mean() == 0.5
    assert result.evaluation.alphas == (0.1,)
