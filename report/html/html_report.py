"""Renders a report as one self-contained HTML page: no network access, only its own script.

A Content-Security-Policy inside the page allows only the page's own style sheet and script, by their hashes.
So even an unescaped text of a report could not load or run anything.
"""

from __future__ import annotations

import base64
import hashlib

from elrcheck.report.html.html_matrix import SIGNS
from elrcheck.report.html.html_page import page_of
from elrcheck.report.html.page_template import environment, source
from elrcheck.results.any_report import Report

STYLES, SCRIPTS = ("palette.css", "report.css", "states.css"), ("report.js", "states.js")
MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}


def to_html(report: Report) -> str:
    """Renders the page with all texts escaped.  Raises UsageFault for a report that has no page."""
    page = page_of(report)
    style, script = ("\n" + "".join(map(source, names)) for names in (STYLES, SCRIPTS))
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            page=page, marks=MARKS, signs=SIGNS, style=style, script=script,
            style_hash=_hash(style), script_hash=_hash(script),
        )
    )  # fmt: skip


def _hash(text: str) -> str:
    """The hash by which a policy names the content between a pair of tags."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
