"""The self-contained page of an audit: no request, no script, every name from data escaped."""

import base64
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mia_audit
from mia_audit.report import views
from mia_audit.report.context import ReportContext
from mia_audit.report.selected import selection_view
from mia_audit.report.sentences import (
    headline,
    noise_sentence,
    what_it_does_not_mean,
    what_it_means,
)
from mia_audit.report.style import DPI
from mia_audit.report.tables import MAIN_METHODS, point_table, remaining_methods

if TYPE_CHECKING:
    from mia_audit.audit import AuditResult

_FOLDER = Path(__file__).parent


def render_report(result: "AuditResult", context: ReportContext, figures: dict[str, bytes]) -> str:
    """The page as one string of HTML; `figures` are PNG bytes by name (see `draw_figures`)."""
    evaluation, attack = result.evaluation, context.attack
    lead = headline(evaluation.points)
    num_models = evaluation.num_models
    return render(
        "report.html.j2",
        figures,
        context=context,
        facts=views.facts(context),
        headline=lead,
        tiles=views.tiles(result),
        warnings=views.warnings(result),
        means=what_it_means(lead.point, num_models=num_models) if lead.point else [],
        means_not=what_it_does_not_mean(num_models=num_models),
        main=point_table(evaluation.points, MAIN_METHODS, attack=attack),
        other=point_table(evaluation.points, remaining_methods(evaluation.points), attack=attack),
        spread=views.spread_rows(result),
        normality=views.normality_facts(result),
        normality_warning=evaluation.normality.warning,
        exposed=views.exposed_view(result),
        selection=selection_view(result),
        target=views.target_view(result),
        population=views.population_table(result),
        noise=noise_sentence(result.noise),
        needed=views.needed_rows(result),
        accuracy=views.accuracy_sentence(result),
        profile=views.profile(context),
        provenance=views.provenance(context),
    )


def render(template: str, figures: dict[str, bytes], **values: Any) -> str:
    """One template of this folder with the shared style, pictures inlined, and escaping on."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(
        css=Markup((_FOLDER / "report.css").read_text(encoding="utf-8")),
        version=mia_audit.__version__,
        figures={name: picture(png) for name, png in figures.items()},
        **values,
    )


def picture(png: bytes) -> dict[str, Any]:
    """A PNG as a data address, with its size in CSS pixels (96 an inch)."""
    width, height = struct.unpack(">II", png[16:24])
    encoded = base64.b64encode(png).decode("ascii")
    return {
        "address": f"data:image/png;base64,{encoded}",
        "width": round(width * 96 / DPI),
        "height": round(height * 96 / DPI),
    }
