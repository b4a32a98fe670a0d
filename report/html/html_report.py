"""Renders a page as one self-contained HTML file: no network access, only its own script."""

from __future__ import annotations

from elrcheck.report.html.html_matrix import SIGNS
from elrcheck.report.html.html_part import HtmlPage
from elrcheck.report.html.page_template import whole_page


def to_html(page: HtmlPage) -> str:
    """Render the page with all texts escaped."""
    return whole_page("report.html.j2", page=page, signs=SIGNS)
