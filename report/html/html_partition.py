"""The picture of a state: what the controller holds, and a table with a row a broker, a column an offset."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from elrcheck.report.html.page_template import environment
from elrcheck.results.web.drawn_partition import DrawnPartition

if TYPE_CHECKING:
    from jinja2 import Template

MARKS = {"acknowledged": "★", "committed": "✓", "other": "✗", "open": "", "missing": ""}
DESCRIPTIONS = {
    "acknowledged": "acknowledged to its producer",
    "committed": "committed",
    "other": "not the record that was committed at this offset",
    "open": "not committed",
    "missing": "committed, and not in this log",
}
CHANGES = {"new": "new in this step", "gone": "gone in this step", "": ""}
TONES = {"leader": "leader", "ISR": "isr", "ELR": "elr", "LastKnownELR": "known", "replica": "replica"}


def partition_picture(picture: DrawnPartition) -> str:
    """Return the picture as a fragment of HTML with all texts escaped; its classes are in `partition.css`."""
    return _template().render(picture=picture, marks=MARKS, said=DESCRIPTIONS, changes=CHANGES, tones=TONES)


@functools.cache
def _template() -> Template:
    return environment().get_template("partition.html.j2")
