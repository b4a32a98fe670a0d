"""The state graph of a small scope as an SVG file that needs nothing else."""

from __future__ import annotations

from elrcheck.report.html.html_states import picture
from elrcheck.report.html.page_template import environment, source
from elrcheck.results.drawn_graph import SmallGraph

ALONE = """
.states { background: var(--back); }
.states .page { fill: var(--back); }
.states .said { display: none; pointer-events: none; }
.states .said rect { fill: var(--back); stroke: var(--ink); }
"""


def to_svg(graph: SmallGraph) -> str:
    """Valid XML; what is known of a state appears while it is pointed at or has the focus, by style alone."""
    style = source("palette.css") + source("states.css") + ALONE
    template = environment().get_template("states.svg.j2")
    return template.render(picture=picture(graph, alone=True), style=style)
