"""Where membership has no effect, every calibrated method must find members at the rate at which it
may accuse non-members: on scores of really trained models, random scores and constant scores."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from mia_audit.attacks import LiRA
from mia_audit.audit import AuditSettings, audit
from mia_audit.data import Adult, draw_pool
from mia_audit.defences.none import NoDefence
from mia_audit.models.mlp import MLP
from mia_audit.plan import plan_sweep
from mia_audit.progress import Progress
from mia_audit.report import ReportContext, draw_figures, render_report
from mia_audit.run_content import metrics
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.stats import draw_members
from mia_audit.stats.evaluation import evaluate
from mia_audit.store import Store
from mia_audit.sweep import Cluster, run_sweep

NUM_MODELS, NUM_RECORDS, REPEATS = 64, 300, 60
CALIBRATED = ("naive", "post_empirical", "post_conditional", "per_record")
ALPHAS = (0.1, 0.01, 0.001)

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def outside_scores(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Scores [M, N] of real models on records that none of them was trained on."""
    pool = draw_pool(Adult().load(), 2 * NUM_RECORDS, seed=3)
    plan = plan_sweep(pool, MLP(epochs=20), NoDefence(), num_models=NUM_MODELS, fraction=0.25)
    audited = np.arange(2 * NUM_RECORDS) < NUM_RECORDS
    training = draw_members(NUM_MODELS, 2 * NUM_RECORDS, seed=9) & ~audited
    plan = replace(plan, members=training)
    store = Store(str(tmp_path_factory.mktemp("null") / "store"))
    report = run_sweep(
        plan, store, cluster=Cluster(num_cpus=2), progress=Progress(Console(quiet=True))
    )
    assert report.failed == {}
    return store.load(plan).scores[:, audited]


def null_rates(repeats: Iterable[np.ndarray]) -> dict[tuple[str, float], np.ndarray]:
    """TPR of each method and level, a value a repeat: scores [M, N] under members drawn afresh."""
    found: dict[tuple[str, float], list[float]] = {}
    for seed, scores in enumerate(repeats):
        members = draw_members(*scores.shape, seed=1000 + seed)
        for point in evaluate(scores, members, alphas=ALPHAS).points:
            found.setdefault((point.method, point.alpha), []).append(point.tpr)
    return {key: np.array(values) for key, values in found.items()}


def granularity(method: str, alpha: float) -> float:
    """How far below α a conformal cut-off may stand: one rank of the out scores that set it."""
    pooled = NUM_MODELS * NUM_RECORDS / 2
    steps = {"naive": pooled, "post_empirical": pooled, "post_conditional": 5 / alpha}
    return 1 / (steps[method] + 1) if method in steps else 0.0


def assert_no_advantage(
    rates: dict[tuple[str, float], np.ndarray], methods: tuple[str, ...]
) -> None:
    """Members are accused as often as the level says: at α, within the error of the repeats."""
    checked = 0
    for (method, alpha), values in rates.items():
        if method not in methods or np.isnan(values).all():
            continue
        error = 3.5 * values.std(ddof=1) / math.sqrt(len(values))
        low = alpha - granularity(method, alpha) - error
        assert low <= values.mean() <= alpha + error, (method, alpha, values.mean(), error)
        checked += 1
    assert checked >= 3 * (len(methods) - 1) + 1  # per_record has too few models at low levels


def test_real_models_trained_elsewhere(outside_scores: np.ndarray) -> None:
    assert outside_scores.std(axis=0).min() > 0
    assert_no_advantage(null_rates([outside_scores] * REPEATS), CALIBRATED)


def test_random_scores() -> None:
    rng = np.random.default_rng(5)
    location, scale = rng.normal(0, 3, NUM_RECORDS), rng.gamma(2, 1, NUM_RECORDS)
    noise = (rng.standard_normal((NUM_MODELS, NUM_RECORDS)) for _ in range(REPEATS))
    rates = null_rates(location + scale * each for each in noise)
    assert_no_advantage(rates, (*CALIBRATED, "post_student_t_exact"))


def test_constant_scores_end_in_zeros(tmp_path: Path) -> None:
    members = draw_members(NUM_MODELS, NUM_RECORDS, seed=2)
    nothing = np.full(NUM_MODELS, np.nan, dtype=np.float32)
    matrix = ScoreMatrix(
        np.full((NUM_MODELS, NUM_RECORDS), 2.5, dtype=np.float32),
        members, np.arange(NUM_RECORDS), nothing, nothing,
    )  # fmt: skip
    result = audit(matrix, AuditSettings(attack=LiRA()))
    for point in result.evaluation.points:
        if point.method in CALIBRATED[:3]:
            assert point.tpr == point.fpr == 0.0
    assert result.evaluation.auc == 0.5
    assert {"auc", "tpr_at_fpr/0.01", "fpr_achieved/0.01"} <= set(metrics(result))
    context = ReportContext("t", "d", "m", "n", "lira", NUM_MODELS, NUM_RECORDS, 0)
    page = render_report(result, context, draw_figures(result, context))
    words = re.sub(r"<[^>]*>", " ", re.sub(r"data:image/[^\"]*", "", page))
    assert not re.search(r"\b(nan|inf)\b", words, re.I)
