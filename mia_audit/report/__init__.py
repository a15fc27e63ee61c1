"""The pictures and the self-contained page of an audit.

Cheap to import: matplotlib and Jinja2 are loaded by the functions that use them.
"""

from mia_audit.report.context import ReportContext
from mia_audit.report.figures import draw_figures
from mia_audit.report.page import render_report

__all__ = ["ReportContext", "draw_figures", "render_report"]
