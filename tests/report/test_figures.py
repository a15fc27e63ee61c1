"""The pictures: all there, of a real size, and leaving no trace in matplotlib's settings."""

import struct
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from scipy import stats

from mia_audit.report import draw_figures
from mia_audit.report.histograms import calibrated_rates
from tests.report.audits import context_of, full_figures, result_of

NAMES = {"roc", "record_fpr", "densities", "quantiles", "exposed", "selection", "models_accuracy"}


def test_all_figures_are_pngs_at_twice_the_usual_resolution() -> None:
    figures = full_figures()
    assert set(figures) == NAMES | {"convergence"}
    for name, png in figures.items():
        assert png.startswith(b"\x89PNG"), name
        width, height = struct.unpack(">II", png[16:24])
        assert width == 1440, name
        assert height > 300, name


def test_very_few_models_can_be_drawn_and_leave_the_settings_alone() -> None:
    before = dict(matplotlib.rcParams)
    small = replace(result_of(8, 20, 0.0), selection=None, convergence=[])
    assert {"roc", "record_fpr", "densities", "quantiles"} <= set(
        draw_figures(small, context_of(small))
    )
    assert dict(matplotlib.rcParams) == before


def test_what_has_nothing_to_show_is_left_out() -> None:
    unknown = np.full(32, np.nan)
    result = replace(result_of(), selection=None, convergence=[], train_accuracy=unknown,
                     test_accuracy=unknown)  # fmt: skip
    left_out = NAMES - set(draw_figures(result, context_of(result)))
    assert left_out == {"selection", "models_accuracy"}


@pytest.mark.parametrize(("alpha", "n"), [(0.1, 64), (0.01, 64), (0.1, 200)])
def test_calibrated_rates_have_the_reference_variance(alpha: float, n: int) -> None:
    """Against the closed form of the reference, whose error is of order 1/n² too."""
    rates = calibrated_rates(alpha, np.full(1000, n), draws=4_000_000)
    z = stats.norm.isf(alpha)
    reference = (alpha * (1 - alpha) - stats.norm.pdf(z) ** 2 * (1 + z**2 / 2)) / n
    error = rates.std() / np.sqrt(rates.size)
    assert rates.mean() == pytest.approx(alpha, abs=4 * error)
    assert rates.var() == pytest.approx(reference, rel=0.06)
