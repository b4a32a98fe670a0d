"""The packaged templates, which escape every text, and the frame that all pages share.

A Content-Security-Policy inside a page allows only the page's own style sheet and script, by their hashes, so even an
unescaped text could not load or run anything.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


STYLES = ("palette.css", "report.css", "sequence.css", "partition.css", "states.css")
SCRIPTS = ("trace.js", "report.js", "states.js", "tables.js")
MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}


def whole_page(template: str, **contents: Any) -> str:
    """Return a page with one style sheet, one script and no network access."""
    style, script = ("\n" + "".join(map(source, names)) for names in (STYLES, SCRIPTS))
    hashes = {"style_hash": _hash(style), "script_hash": _hash(script)}
    return environment().get_template(template).render(style=style, script=script, marks=MARKS, **hashes, **contents)


def environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    page_environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FunctionLoader(source),
    )
    page_environment.filters["code"] = _with_code
    return page_environment


def _with_code(text: str) -> Markup:
    """Return a text, escaped, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    words = text.split("`")
    if len(words) % 2 == 0:
        return escape(text)
    pieces = (f"<code>{escape(word)}</code>" if number % 2 else escape(word) for number, word in enumerate(words))
    return Markup("".join(pieces))


def source(name: str) -> str:
    return (files("elrcheck.report.html") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """Return the hash of a tag's content, as a policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
