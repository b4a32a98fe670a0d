"""The packaged templates, which escape every text, and the frame that all pages share.

A Content-Security-Policy inside a page allows only the page's own style sheet and script, by their hashes, so even an
unescaped text could not load or run anything.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Set
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elrcheck.base.package_files import templates_in

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from jinja2 import Template


STYLES = ("palette.css", "report.css", "sequence.css", "partition.css", "states.css")
SCRIPTS = ("trace.js", "report.js", "states.js", "tables.js")
FINDING = re.compile(r"\bF-\d+\b(?!/)")
COMMAND = re.compile(r"`([^`]+)`")
MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}


def whole_page(template: str, **contents: Any) -> str:
    """Return a page with one style sheet, one script and no network access."""
    style, script = ("\n" + "".join(map(source, names)) for names in (STYLES, SCRIPTS))
    hashes = {"style_hash": _hash(style), "script_hash": _hash(script)}
    return packaged(template).render(style=style, script=script, marks=MARKS, **hashes, **contents)


@functools.cache
def packaged(template: str) -> Template:
    """Return a template of the package, read once."""
    templates = templates_in(_folder(), escaping=True)
    templates.filters["linked"] = _linked
    return templates.get_template(template)


def _linked(text: str, defined: Set[str]) -> str:
    """Return a text, escaped, whose findings link to where the page describes them, and with its `commands` as code.

    defined: the ids of the findings that the page describes.
    """
    from jinja2.filters import do_forceescape, do_mark_safe

    def link(match: re.Match[str]) -> str:
        return f'<a href="#{match[0]}">{match[0]}</a>' if match[0] in defined else match[0]

    return do_mark_safe(COMMAND.sub(r"<code>\1</code>", FINDING.sub(link, str(do_forceescape(text)))))


def source(name: str) -> str:
    return (_folder() / name).read_text("utf-8")


def _folder() -> Traversable:
    return files("elrcheck.report.html") / "templates"


def _hash(text: str) -> str:
    """Return the hash of a tag's content, as a policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
