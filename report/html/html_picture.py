"""The picture of a state: its fields, or the controller and the brokers of a partition."""

from __future__ import annotations

from elrcheck.report.html.page_template import packaged, source
from elrcheck.results.drawn.drawn_fields import DrawnFields
from elrcheck.results.drawn.drawn_partition import DrawnPartition

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
CHANGED = "<li>Yellow: the last step changed it.</li>"


def picture_of(drawn: DrawnFields | DrawnPartition) -> str:
    """Return the picture as a fragment of HTML with all texts escaped; its classes are in `partition.css`."""
    if isinstance(drawn, DrawnFields):
        return packaged("fields.html.j2").render(picture=drawn)
    partition = packaged("partition.html.j2")
    return partition.render(picture=drawn, marks=MARKS, said=DESCRIPTIONS, changes=CHANGES, tones=TONES)


def legend_of(drawn: DrawnFields | DrawnPartition) -> str:
    """Return what the signs of a picture mean, as the items of a list in HTML."""
    return CHANGED if isinstance(drawn, DrawnFields) else source("partition_legend.html")
