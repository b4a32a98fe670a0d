"""A hook of mkdocs: sequence diagrams as pictures, because the site runs no script that could draw them.

GitHub draws a `mermaid` block by itself. For the site each line of one becomes a row of an SVG: participants
are columns, messages arrows, notes texts in their column, and a `rect` colours what stands in it. What this
reads is what `elrcheck trace show --as mermaid` writes; another line is an error.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

BLOCK = re.compile(r"^```mermaid\nsequenceDiagram\n(.*?)^```$", re.M | re.S)
PARTICIPANT = re.compile(r"participant (\w+)(?: as (.+))?")
NOTE = re.compile(r"Note over (\w+): (.+)")
MESSAGE = re.compile(r"(\w+)(--?>>|-x)(\w+): (.+)")
COLUMN, MARGIN, HEAD, LINE, PAD = 320, 12, 40, 17, 9
STYLE = "font:13px var(--md-code-font-family,monospace)"
"""On a narrow screen the picture is scrolled, not shrunk until it cannot be read."""


@dataclass
class Drawing:
    """A drawing in progress. y: the start of the next row; rect: the start of the open rectangle."""

    columns: dict[str, float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    back: list[str] = field(default_factory=list)
    front: list[str] = field(default_factory=list)
    y: float = HEAD + PAD
    rect: float | None = None

    @property
    def width(self) -> float:
        return COLUMN * len(self.columns)


def with_pictures(markdown: str) -> str:
    """Return the text of a page with a picture in place of each sequence diagram."""
    return BLOCK.sub(lambda match: picture(match[1]), markdown)


def picture(source: str) -> str:
    """Return a sequence diagram as a figure of HTML, on one line. ValueError for a line that is not understood."""
    drawing = Drawing()
    for line in filter(None, map(str.strip, source.splitlines())):
        _draw(line, drawing)
    lines = [
        f'<line x1="{x}" y1="{HEAD}" x2="{x}" y2="{drawing.y}" stroke="currentColor" stroke-opacity=".3"/>'
        for x in drawing.columns.values()
    ]
    heads = [_text(x, HEAD - 14, drawing.names[key], bold=True) for key, x in drawing.columns.items()]
    bottom = drawing.y + MARGIN
    label = html.escape("Sequence diagram: " + ", ".join(drawing.names.values()), quote=True)
    return (
        f'<figure style="overflow-x:auto" tabindex="0"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{label}" fill="currentColor" width="{drawing.width:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {drawing.width:.0f} {bottom:.0f}" style="{STYLE}">'
        f"{''.join([*drawing.back, *lines, *heads, *drawing.front])}</svg></figure>"
    )


def _draw(line: str, to: Drawing) -> None:
    if match := PARTICIPANT.fullmatch(line):
        to.columns[match[1]] = COLUMN * (len(to.columns) + 0.5)
        to.names[match[1]] = match[2] or match[1]
    elif match := NOTE.fullmatch(line):
        texts = match[2].split("<br/>")
        x = to.columns[match[1]]
        to.front += [_text(x, to.y + LINE * (n + 0.8), text) for n, text in enumerate(texts)]
        to.y += LINE * len(texts) + PAD
    elif match := MESSAGE.fullmatch(line):
        _arrow(to, to.columns[match[1]], to.columns[match[3]], match[4], lost=match[2] == "-x")
    elif line.startswith("rect "):
        to.rect = to.y - PAD / 2
    elif line == "end" and to.rect is not None:
        shape = f'<rect x="0" y="{to.rect}" width="{to.width}" height="{to.y - to.rect - PAD / 2}"'
        to.back.append(f'{shape} fill="#c81e1e" fill-opacity=".15"/>')
        to.rect = None
    else:
        raise ValueError(f"a sequence diagram has a line that no picture is made of: {line}")


def _arrow(to: Drawing, start: float, end: float, text: str, *, lost: bool) -> None:
    side = 7 if end < start else -7
    y = to.y + LINE + 6
    to.front.append(_text((start + end) / 2, to.y + LINE * 0.8, text))
    to.front.append(f'<line x1="{start}" y1="{y}" x2="{end}" y2="{y}" stroke="currentColor"/>')
    tip = f"M{end + side},{y - 4}L{end},{y}L{end + side},{y + 4}"
    tip = f"M{end - 5},{y - 5}l10,10m0,-10l-10,10" if lost else tip
    to.front.append(f'<path d="{tip}" stroke="currentColor" fill="none"/>')
    to.y += LINE + 6 + PAD


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight, label = ' font-weight="700"' if bold else "", html.escape(html.unescape(text))
    return f'<text x="{x}" y="{round(y, 1)}" text-anchor="middle"{weight}>{label}</text>'


def on_page_markdown(markdown: str, **_: Any) -> str:
    return with_pictures(markdown)
