"""Renders the state graph of a small scope as a self-contained SVG file."""

from __future__ import annotations

from elrcheck.report.html.html_states import picture
from elrcheck.report.html.page_template import packaged, source
from elrcheck.results.drawn_graph import SmallGraph

ALONE = """
.states { background: var(--back); }
.states .page { fill: var(--back); }
.states .said { display: none; pointer-events: none; }
.states .said rect { fill: var(--back); stroke: var(--ink); }
"""


def to_svg(graph: SmallGraph) -> str:
    """Return valid XML; the description of a state appears on hover or focus, by CSS only."""
    style = source("palette.css") + source("states.css") + ALONE
    return packaged("states.svg.j2").render(picture=picture(graph, alone=True), style=style)
