"""Renders a report as one self-contained HTML page: no network access, only its own script."""

from __future__ import annotations

from elrcheck.report.html.html_matrix import SIGNS
from elrcheck.report.html.html_page import page_of
from elrcheck.report.html.page_template import whole_page
from elrcheck.results.any_report import Report


def to_html(report: Report) -> str:
    """Renders the page with all texts escaped.  Raises UsageFault for a report that has no page."""
    return whole_page("report.html.j2", page=page_of(report), signs=SIGNS)
