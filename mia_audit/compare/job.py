"""The comparison, in order: check, train what is missing, audit and pair, log, show."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mia_audit import tracking
from mia_audit.audit_run import Provenance
from mia_audit.compare.comparison import Comparison, Subject, compare
from mia_audit.compare.designs import check_same
from mia_audit.compare.entries import compose_entries
from mia_audit.compare.figures import draw_comparison
from mia_audit.compare.logged import child_context, log_child, log_comparison, provenance_of
from mia_audit.compare.page import render_comparison
from mia_audit.compare.past_runs import past_context, read_past
from mia_audit.compare.planning import Planned, check_keys, plan_comparison
from mia_audit.compare.printed import print_comparison
from mia_audit.compare.words import attacker_sentence, title_of
from mia_audit.live import open_run, progress_of
from mia_audit.preparation import audit_settings
from mia_audit.report import ReportContext
from mia_audit.schema import CompareConfig, Composed
from mia_audit.score_matrix import ScoreMatrix
from mia_audit.training import start_all, train_missing

DONE, FAULT, REFUTED = 0, 1, 3
REPORT = Path("mia_report.html")


@dataclass(frozen=True, eq=False)
class Trained:
    """A defence whose models are there, and when its turn began (seconds since the epoch).

    `run` is its run, open since then, if a model was missing; `sweep_log` is JSON lines.
    """

    planned: Planned
    matrix: ScoreMatrix
    began: float
    run: tracking.LiveRun | None
    sweep_log: str

    @property
    def subject(self) -> Subject:
        label, defence = self.planned.label, self.planned.entry.defence
        attacker = getattr(defence, "attacker", None) or attacker_sentence(label)
        return Subject(label, self.matrix, self.planned.prepared.audit, attacker)

    @property
    def provenance(self) -> Provenance:
        return replace(
            provenance_of(self.planned, self.matrix),
            sweep_log=self.sweep_log,
            run_id=self.run.run_id if self.run else "",
        )


def run_compare(composed: Composed[CompareConfig]) -> int:
    """Compare the named defences, or audits logged before; `conf/compare.yaml` says the keys.

    Returns 0, 1 when models are missing after retries, 3 when a measured ε refutes a claim.
    Raises ValueError for the user's mistakes, before any training.
    """
    console = Console()
    if composed.settings.runs is not None:
        return _from_runs(composed, console)
    return _from_training(composed, console)


def _from_training(composed: Composed[CompareConfig], console: Console) -> int:
    planned = plan_comparison(composed, compose_entries(composed))
    _describe(planned, console)
    if composed.settings.dry_run:
        return DONE
    ready = start_all([one.prepared for one in planned], composed.settings)  # they share one Ray
    with ExitStack() as open_runs:
        trained = [_train(one, composed, ready, console, open_runs) for one in planned]
        if any(one.matrix.missing for one in trained):
            for one in trained:
                if one.run:
                    one.run.fail()
            return FAULT
        comparison = compare([one.subject for one in trained])
        context = _context(composed, trained)
        page = _write_page(comparison, context)

        def log() -> tracking.RunLink:
            children = [
                log_child(one.planned, one.matrix, one.provenance, row, started=one.began).run_id
                for one, row in zip(trained, comparison.rows, strict=True)
            ]
            return log_comparison(
                comparison, composed, context, *page, compared=children, adopted=children
            )

        return _log_and_show(log, comparison, context, console)


def _from_runs(composed: Composed[CompareConfig], console: Console) -> int:
    check_keys(composed)
    audit_settings(composed.settings)
    past = read_past(composed)
    is_paired = check_same(
        [(one.subject.label, one.design) for one in past],
        allow_different_designs=composed.settings.allow_different_designs,
    )
    console.print(Text(f"{len(past)} audits logged before; nothing is trained"))
    if composed.settings.dry_run:
        return DONE
    comparison = compare([one.subject for one in past], is_paired=is_paired)
    context = past_context(past, composed)
    page = _write_page(comparison, context)

    def log() -> tracking.RunLink:
        return log_comparison(
            comparison,
            composed,
            context,
            *page,
            compared=[one.run_id for one in past],
            adopted=[one.run_id for one in past if not one.parent],  # none is taken from its parent
        )

    return _log_and_show(log, comparison, context, console)


def _describe(planned: Sequence[Planned], console: Console) -> None:
    """Print what the data were understood to be, and what is left to train of each defence."""
    plan = planned[0].prepared.plan
    first, *notes = plan.dataset.summary()
    console.print(Text(first))
    for note in notes:
        console.print(Padding(Text(note), (0, 0, 0, 2)))
    console.print(Text(f"{plan.num_models:,} models of kind {plan.model.name} for each defence:"))
    for one in planned:
        missing = len(one.prepared.store.missing(one.prepared.plan))
        held = plan.num_models - missing
        line = f"{one.label}: {held:,} in the store, {missing:,} to train"
        console.print(Padding(Text(f"{line} (key {one.prepared.plan.key})"), (0, 0, 0, 2)))


def _train(
    one: Planned,
    composed: Composed[CompareConfig],
    ready: tracking.Ready,
    console: Console,
    open_runs: ExitStack,
) -> Trained:
    began, config = time.time(), composed.settings
    run = open_run(
        one.prepared, config.tracking, ready, kind="audit", defence=one.label, started=began
    )
    if run:
        open_runs.enter_context(run)
        console.print(Text(one.label, style="bold"))
    progress = progress_of(run, console)
    matrix = train_missing(one.prepared, config.cluster, progress)
    return Trained(one, matrix, began, run, progress.log.text)


def _context(composed: Composed[CompareConfig], trained: Sequence[Trained]) -> ReportContext:
    """What the comparison's page says beside its numbers: the reference's context, widened."""
    first = trained[0]
    plan = first.planned.prepared.plan
    return replace(
        child_context(first.planned, first.matrix),
        title=title_of(plan.model.name, plan.dataset.name),
        defence="",
        config_yaml=composed.yaml,
        store_key=", ".join(one.planned.prepared.plan.key for one in trained),
        seconds=sum(one.matrix.seconds for one in trained),
    )


def _write_page(comparison: Comparison, context: ReportContext) -> tuple[str, dict[str, bytes]]:
    """The page, written whatever happens to the run, and its figures."""
    figures = draw_comparison(comparison)
    report = render_comparison(comparison, context, figures)
    REPORT.write_text(report, encoding="utf-8")
    return report, figures


def _log_and_show(
    log: Callable[[], tracking.RunLink],
    comparison: Comparison,
    context: ReportContext,
    console: Console,
) -> int:
    """The table comes out whatever happens to the runs."""
    try:
        link = log()
        where = f"{link.url} (start '{link.command}' first)" if link.command else link.url
        context = replace(context, run_link=where)
    except tracking.TrackingError as error:
        print(error, file=sys.stderr)
        return FAULT
    finally:
        print_comparison(console, comparison, context)
    return REFUTED if comparison.refuted else DONE
