"""A hook of mkdocs: the table of findings by release is coloured by the strongest level at which one was shown.

The letters stay: the colour says nothing that they do not.
"""

from __future__ import annotations

import re
from typing import Any

PAGE = "findings/table.md"
CELL = re.compile(r"<td>([MmCcBb?-]{3})</td>")
EVIDENCE = {"B": "brokers", "C": "classes", "M": "model", "?": "open"}
TONES = (*EVIDENCE.items(), *((letter, "holds") for letter in "bcm"))
"""The first letter that a cell has decides."""
STYLE = "elrcheck-matrix.css"
COLOURS = """.md-typeset td.shown { font-family: var(--md-code-font-family, monospace); text-align: center; }
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


def on_config(config: Any) -> Any:
    config.extra_css.append(STYLE)
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    files.append(File.generated(config, STYLE, content=COLOURS))
    return files


def on_page_content(content: str, page: Any, **_: Any) -> str:
    return coloured(content) if page.file.src_uri == PAGE else content
