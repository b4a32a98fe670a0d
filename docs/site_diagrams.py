"""A hook of mkdocs: sequence diagrams as the reports draw them, and the coloured table of findings by release.

The site runs no script that could draw a diagram, and GitHub draws a `mermaid` block by itself. What this reads is what
`elrcheck trace show --as mermaid` writes: a participant is a lane, a numbered message or note is a step, other notes
stand below their step, and a `rect` marks the steps in it. Another line is an error.

A cell of the table has the colour of the strongest level at which the finding was shown. The letters stay: the colour
says nothing that they do not.
"""

from __future__ import annotations

import html
import re
from typing import Any

from msgspec.structs import replace

from elrcheck.report.html.html_sequence import Note, Row, SequenceDiagram, lanes_of, sequence_html
from elrcheck.report.html.page_template import source
from elrcheck.results.trace_view import CONTROLLER

BLOCK = re.compile(r"^```mermaid\nsequenceDiagram\n(.*?)^```$", re.M | re.S)
PARTICIPANT = re.compile(r"participant (\w+)(?: as (.+))?")
NOTE = re.compile(r"Note over (\w+): (.+)")
MESSAGE = re.compile(r"(\w+)(--?>>|-x)(\w+): (.+)")
NUMBERED = re.compile(r"(\d+)\. (.+)")
STYLE = "elrcheck.css"
COLOURS = """.sequence {
  --back: var(--md-default-bg-color); --ink: var(--md-default-fg-color); --mute: var(--md-default-fg-color--light);
  --line: var(--md-default-fg-color--lighter); --bad: #c81e1e; --good: #1b6e2c; --accent: var(--md-accent-fg-color);
}
[data-md-color-scheme="slate"] .sequence { --bad: #ff8a80; --good: #7ddc8b; }
.sequence svg line { stroke: var(--line); } .sequence svg { fill: var(--ink); } .sequence .step { cursor: auto; }
.md-typeset figure[role="group"] { display: block; margin: 1em 0; text-align: left; width: 100%; }
.md-typeset .sequence ol, .md-typeset .sequence .step { margin: 0; }
.sequence .step, .lane-names { grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr); }
@media (max-width: 40rem) { .sequence .step, .lane-names { grid-template-columns: minmax(0, 1fr); } }
.hidden { clip-path: inset(50%); position: absolute; }
"""


def with_pictures(markdown: str) -> str:
    """Return the text of a page with a picture in place of each sequence diagram."""
    return BLOCK.sub(lambda match: picture(match[1]), markdown)


def picture(text: str) -> str:
    """Return a sequence diagram as a figure of HTML, on one line. ValueError for a line that is not understood."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = {match[1]: match[2] or match[1] for line in lines if (match := PARTICIPANT.fullmatch(line))}
    lanes = lanes_of(list(named.values()))
    places = dict(zip(named, lanes, strict=True))
    rows: list[Row] = []
    broken = False
    for line in lines:
        if PARTICIPANT.fullmatch(line):
            continue
        if line.startswith("rect ") or (line == "end" and broken):
            broken = line != "end"
        elif (match := MESSAGE.fullmatch(line)) and (step := NUMBERED.fullmatch(match[4])):
            start, end, lost = places[match[1]], places[match[3]], match[2] == "-x"
            where = f"{start.name} to {end.name}{', lost' if lost else ''}"
            rows.append(Row(int(step[1]), _plain(step[2]), start.x, end.x, where, lost, broken=broken))
        elif (match := NOTE.fullmatch(line)) and (step := NUMBERED.fullmatch(match[2])):
            place = places[match[1]]
            rows.append(Row(int(step[1]), _plain(step[2]), place.x, where=place.name, broken=broken))
        elif match and rows:
            over = "" if match[1] == CONTROLLER else f"{named[match[1]]}: "
            notes = tuple(
                Note(over + _plain(one), "failed" if one[0] == "✗" else "") for one in match[2].split("<br/>")
            )
            rows[-1] = replace(rows[-1], notes=rows[-1].notes + notes)
        else:
            raise ValueError(f"a sequence diagram has a line that no picture is made of: {line}")
    drawn = sequence_html(SequenceDiagram(lanes, tuple(rows)), "")
    label = html.escape("Sequence diagram: " + ", ".join(named.values()), quote=True)
    return f'<figure role="group" aria-label="{label}">{" ".join(map(str.strip, drawn.splitlines()))}</figure>'


def _plain(text: str) -> str:
    """Undo what `mermaid` in `report/trace_diagrams.py` escapes."""
    return html.unescape(re.sub(r"#(\w+);", r"&\g<1>;", re.sub(r"#(\d+);", r"&#\g<1>;", text)))


# ---------------------------------------------------------------------------- the table

PAGE = "findings/table.md"
CELL = re.compile(r"<td>([MmCcBb?-]{3})</td>")
EVIDENCE = {"B": "brokers", "C": "classes", "M": "model", "?": "open"}
TONES = (*EVIDENCE.items(), *((letter, "holds") for letter in "bcm"))
"""The first letter that a cell has decides."""
MATRIX = """.md-typeset td.shown { font-family: var(--md-code-font-family, monospace); text-align: center; }
.md-typeset table:has(td.shown) :is(th, td) { min-width: 0; padding: .5em .4em; }
td.shown.brokers { background: #b3261e; color: #fff; } td.shown.classes { background: #ffd166; color: #1c1b1f; }
td.shown.model { background: #fff2b8; color: #1c1b1f; } td.shown.open { background: #d9d9de; color: #1c1b1f; }
td.shown.holds { background: #d5f0da; color: #1c1b1f; }
"""


def coloured(content: str) -> str:
    """Return the table with a class in each cell, by its letters."""
    return CELL.sub(lambda cell: f'<td class="shown {tone(cell[1])}">{cell[1]}</td>', content)


def tone(letters: str) -> str:
    return next((word for letter, word in TONES if letter in letters), "untried")


# ---------------------------------------------------------------------------- the hook


def on_config(config: Any) -> Any:
    config.extra_css.append(STYLE)
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    files.append(File.generated(config, STYLE, content=source("sequence.css") + COLOURS + MATRIX))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    return with_pictures(markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    return coloured(content) if page.file.src_uri == PAGE else content
