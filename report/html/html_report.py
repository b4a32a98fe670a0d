"""A report as one HTML page that needs nothing else: no network, and no script but its own.

A Content-Security-Policy inside the page allows the one style sheet and the one script by their hashes and
nothing besides, so that no text of a report can load or run anything, were it ever not escaped.
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
    """The page; every text in it is escaped.  UsageFault for a report that has no page."""
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
    """As a policy names what stands between a pair of tags."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
