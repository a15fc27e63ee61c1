"""All figures of an audit, drawn once for the page and for the run's artifacts."""

from typing import TYPE_CHECKING

import numpy as np

from mia_audit.report.context import ReportContext
from mia_audit.report.curves import draw_quantiles, draw_roc
from mia_audit.report.exposure import draw_exposed, exposed_table
from mia_audit.report.histograms import draw_densities, draw_models_accuracy, draw_record_fpr
from mia_audit.report.style import rules
from mia_audit.report.trends import draw_convergence, draw_selection
from mia_audit.stats.evaluation import Evaluation

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult


def draw_figures(result: "AuditResult", context: ReportContext) -> dict[str, bytes]:
    """PNG bytes by name; a figure that has nothing to show is left out.

    Names: roc, record_fpr, densities, quantiles, exposed, selection, convergence, models_accuracy.
    """
    import matplotlib

    evaluation = result.evaluation
    with matplotlib.rc_context(rules()):
        figures = {
            "roc": draw_roc(evaluation, context.attack),
            "record_fpr": draw_record_fpr(evaluation),
            "densities": draw_densities(evaluation, _cutoffs(evaluation)),
            "quantiles": draw_quantiles(evaluation.normality),
        }
        exposed = exposed_table(result)
        if exposed is not None:
            figures["exposed"] = draw_exposed(exposed)
        if result.selection is not None and result.selection.curves:
            figures["selection"] = draw_selection(result.selection.curves)
        if len({point.num_models for point in result.convergence}) > 1:
            figures["convergence"] = draw_convergence(result.convergence)
        if np.isfinite(result.test_accuracy).any():
            figures["models_accuracy"] = draw_models_accuracy(
                result.train_accuracy, result.test_accuracy
            )
    return figures


def _cutoffs(evaluation: Evaluation) -> dict[float, float]:
    """Level → cut-off on standardised scores, the threshold of the ROC's last vertex below it."""
    roc = evaluation.roc
    last = np.searchsorted(roc.fpr, np.asarray(evaluation.alphas) * (1 + 1e-12), side="right") - 1
    found = zip(evaluation.alphas, roc.threshold[last], strict=True)
    return {alpha: float(cutoff) for alpha, cutoff in found if np.isfinite(cutoff)}
