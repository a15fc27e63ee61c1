"""From a matrix to a result: what an audit holds, and how settings change it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from mia_audit import run_content
from mia_audit.attacks import BASE, LiRA
from mia_audit.audit import AuditResult, AuditSettings, audit
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats import draw_members
from mia_audit.stats.member_share import Storey


@pytest.fixture(scope="module")
def matrix() -> ScoreMatrix:
    rng = np.random.default_rng(0)
    members = draw_members(32, 500, seed=1)
    scores = rng.normal(0, 3, 500) + rng.standard_normal(members.shape) + 0.8 * members
    accuracy = rng.uniform(0.8, 0.9, 32).astype(np.float32)
    return ScoreMatrix(
        scores.astype(np.float32), members, np.arange(500) + 7000, accuracy + 0.05, accuracy
    )


@pytest.fixture(scope="module")
def result(matrix: ScoreMatrix) -> AuditResult:
    return audit(matrix, AuditSettings(attack=LiRA(), selection_alpha=0.5))


def test_metrics_tables_and_arrays_agree_with_the_result(
    result: AuditResult, matrix: ScoreMatrix
) -> None:
    metrics, tables = run_content.metrics(result), run_content.tables(result)
    point = result.evaluation.point("post_empirical", 0.01)
    assert metrics["tpr_at_fpr/0.01"] == point.tpr
    assert metrics["fpr_achieved/0.01"] == point.fpr
    assert metrics["test_accuracy"] == pytest.approx(matrix.test_accuracy.mean())
    assert {"auc", "auc_naive", "epsilon_measured", "train_accuracy"} <= set(metrics)
    assert len(tables["models.json"]) == 32
    methods = {row["method"] for row in tables["operating_points.json"]}
    assert {"naive", "post_empirical", "post_student_t_exact", "per_record"} <= methods
    assert run_content.arrays(matrix)["scores/scores.npy"] is matrix.scores


def test_selected_records_are_named_by_their_ids(result: AuditResult) -> None:
    chosen = run_content.selections(result)["selection.json"]
    assert chosen["record_ids"]
    assert min(chosen["record_ids"]) >= 7000
    assert len(chosen["record_ids"]) == len(chosen["record_is_member"])


def test_plain_lira_is_not_repeated_and_another_attack_has_a_row(
    matrix: ScoreMatrix, result: AuditResult
) -> None:
    assert "attack" not in {point.method for point in result.evaluation.points}
    other = audit(matrix, AuditSettings(attack=BASE(), estimator=Storey()))
    assert other.evaluation.point("attack", 0.1).tpr > 0.1
    assert other.estimator == "storey"


def test_epsilon_is_bounded_under_bernoulli_alone(matrix: ScoreMatrix, result: AuditResult) -> None:
    assert result.epsilon_measured > 0
    assert not result.refutes_claim
    fixed = audit(matrix, AuditSettings(attack=LiRA(), design="fixed_size", claimed_epsilon=1e-9))
    assert math.isnan(fixed.epsilon_measured)
    assert not fixed.refutes_claim


def test_a_measured_epsilon_above_the_claim_refutes_it(matrix: ScoreMatrix) -> None:
    assert audit(matrix, AuditSettings(attack=LiRA(), claimed_epsilon=1e-9)).refutes_claim
    assert not audit(matrix, AuditSettings(attack=LiRA(), claimed_epsilon=50.0)).refutes_claim


def test_the_population_stands_beside_the_pool(matrix: ScoreMatrix, result: AuditResult) -> None:
    assert result.population == []
    corrected = audit(matrix, AuditSettings(attack=LiRA(), population_correction=True))
    within = corrected.evaluation.point("per_record_normal", 0.1).tpr
    outside = next(point for point in corrected.population if point.alpha == 0.1).tpr
    assert 0.1 < outside < within


def test_a_balanced_matrix_is_recognised_and_warned_about(matrix: ScoreMatrix) -> None:
    balanced = replace(matrix, members=draw_members(32, 500, design="balanced", seed=3))
    warned = audit(balanced, AuditSettings(attack=LiRA())).warnings
    assert len(warned) == 1
    assert "exactly 16 of the 32 models" in warned[0]
    assert audit(matrix, AuditSettings(attack=LiRA())).warnings == ()


def test_a_model_with_too_few_non_members_has_no_selection_but_an_audit() -> None:
    rng = np.random.default_rng(8)
    members = rng.random((16, 40)) < 0.5
    members[0] = True
    members[0, 0] = False
    unknown = np.full(16, np.nan, dtype=np.float32)
    scores = rng.standard_normal((16, 40)).astype(np.float32)
    result = audit(
        ScoreMatrix(scores, members, np.arange(40), unknown, unknown), AuditSettings(attack=LiRA())
    )
    assert result.selection is None
    assert any("No set of records was selected" in warning for warning in result.warnings)
    assert math.isfinite(result.evaluation.point("post_empirical", 0.1).tpr)
    assert "selection.json" not in run_content.selections(result)


def test_unknown_numbers_are_null_in_json(matrix: ScoreMatrix) -> None:
    alone = audit(matrix, AuditSettings(attack=LiRA(), member_share=0.0001))
    content = run_content.selections(alone)["selection.json"]
    assert content["power"] is None
    json.dumps(content, allow_nan=False)
