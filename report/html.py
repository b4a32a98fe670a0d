"""A report as one HTML page that needs nothing else: no network, and no script but its own.

A Content-Security-Policy inside the page allows the one style sheet and the one script by their hashes and
nothing besides, so that no text of a report can load or run anything, were it ever not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from elrcheck.report.html_matrix import SIGNS
from elrcheck.report.html_page import page_of
from elrcheck.report.model import Report

if TYPE_CHECKING:
    from jinja2 import Environment

STYLE, SCRIPT = "report.css", "report.js"
MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}


def to_html(report: Report) -> str:
    """The page; every text in it is escaped.  UsageFault for a report that is no list of cases."""
    page = page_of(report)
    style, script = _source(STYLE), _source(SCRIPT)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            page=page, marks=MARKS, signs=SIGNS, style_hash=_hash(style), script_hash=_hash(script),
        )
    )  # fmt: skip


def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, loader=FunctionLoader(_source),
    )  # fmt: skip


def _source(name: str) -> str:
    return (files("elrcheck.report") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """As a policy names what stands between a pair of tags."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
