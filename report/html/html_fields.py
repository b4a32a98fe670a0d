"""The picture of a state of any model: its facts, and a table for each sort."""

from __future__ import annotations

from elrcheck.report.html.page_template import environment
from elrcheck.results.web.drawn_fields import DrawnFields

CHANGED = "<li>Yellow: the last step changed it.</li>"
"""The legend of the picture."""


def fields_picture(picture: DrawnFields) -> str:
    """Return the picture as a fragment of HTML with all texts escaped; its classes are in `partition.css`."""
    return environment().get_template("fields.html.j2").render(picture=picture)
