"""Small real audits that the report and the terminal are tested on."""

from dataclasses import replace
from functools import cache

import numpy as np

from mia_audit.audit import AuditResult
from mia_audit.report import ReportContext, draw_figures
from mia_audit.stats.convergence import convergence
from mia_audit.stats.evaluation import OperatingPoint, evaluate
from mia_audit.stats.ptdi_audit import audit_selection
from mia_audit.stats.ptdi_target import select_for_target
from mia_audit.stats.standardisation import standardise
from mia_audit.target import TargetResult

HOSTILE = '<script>alert("x")</script>&<img src=x onerror=alert(1)>'
ALPHAS = (0.1, 0.01, 0.001)


def planted(num_models: int, num_records: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores that membership raises by `shift` standard deviations, and the members."""
    rng = np.random.default_rng(num_models + num_records)
    members = rng.random((num_models, num_records)) < 0.5
    noise = rng.standard_normal((num_models, num_records))
    centre, spread = rng.normal(0, 2, num_records), rng.uniform(0.5, 2, num_records)
    return (centre + spread * (noise + shift * members)).astype(np.float32), members


@cache
def result_of(num_models: int = 32, num_records: int = 300, shift: float = 2.0) -> AuditResult:
    """An audit with every optional part left out."""
    scores, members = planted(num_models, num_records, shift)
    known = np.linspace(0.8, 0.9, num_models)
    return AuditResult(
        evaluation=evaluate(scores, members, alphas=ALPHAS),
        selection=audit_selection(standardise(scores, members), members, alpha=0.2),
        target=None,
        convergence=convergence(scores, members, alphas=ALPHAS),
        population=[],
        train_accuracy=known + 0.05,
        test_accuracy=known,
        epsilon_measured=0.5,
        epsilon_claimed=None,
        models_needed=[
            {"alpha": 0.1, "half_width": float("nan"), "num_models": 100},
            {"alpha": 0.1, "half_width": 0.1, "num_models": 80},
        ],
        record_ids=np.arange(num_records) + 7000,
        estimator="subtraction",
    )


@cache
def full_result() -> AuditResult:
    """An audit with a chosen attack, an existing model, population rows and a refuted claim."""
    scores, members = planted(32, 300, 2.0)
    result = result_of()
    selection = select_for_target(standardise(scores, members)[0], members[0], alpha=0.2)
    return replace(
        result,
        evaluation=evaluate(scores, members, statistic=scores - scores.mean(0), alphas=ALPHAS),
        target=TargetResult([point("target", a, 3 * a) for a in ALPHAS], selection, members[0]),
        population=[point("population", a, 2 * a) for a in ALPHAS],
        epsilon_claimed=0.1,
    )


@cache
def full_figures() -> dict[str, bytes]:
    """The pictures of `full_result`."""
    return draw_figures(full_result(), context_of(full_result(), attack="rmia"))


def point(method: str, alpha: float, tpr: float, note: str = "") -> OperatingPoint:
    """A point whose interval is 20% to either side."""
    nan = float("nan")
    return OperatingPoint(
        method, alpha, alpha, nan, nan, tpr, 0.8 * tpr, 1.2 * tpr, "positive", note
    )


def context_of(
    result: AuditResult, *, dataset: str = "adult", attack: str = "lira"
) -> ReportContext:
    """Provenance of an audit of `dataset`."""
    return ReportContext(
        title=f"Membership audit of mlp on {dataset}",
        dataset=dataset,
        model="mlp",
        defence="none",
        attack=attack,
        num_models=result.evaluation.num_models,
        num_records=result.evaluation.num_records,
        seed=0,
        notes=(f"columns of {dataset} were encoded",),
        profile={f"features of {dataset}": "104"},
        config_yaml=f"dataset:\n  name: {dataset}\n",
        store_key="0123456789abcdef",
        devices=("cpu",),
        seconds=42.0,
        versions={"version.python": "3.11"},
        run_link="http://127.0.0.1:5000/#/experiments/1/runs/abc",
        report_path="mia_report.html",
        command="python -m jobs.audit num_models=32",
    )
