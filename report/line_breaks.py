"""Lines and columns for a terminal of some width, broken only between words.

A word longer than the line is left to the terminal. A command continues after a backslash, so that it can be copied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

Color: TypeAlias = Literal["auto", "always", "never"]
"""When text on a terminal has colours."""
NARROWEST = 20
"""A narrower terminal breaks the lines itself."""
GAP = 2
"""Blanks between two columns."""
_WORD = re.compile(r"^\s*\S*\s*|\S+\s*")
"""A word with the blanks after it; the first one also with those before it."""


def lines(text: str, width: int, hang: int | None = None) -> list[str]:
    """Return the text in lines of at most `width`. hang: indent of later lines, by default 2 more than the first."""
    if len(text) <= width or width < NARROWEST:
        return [text]
    indent = len(text) - len(text.lstrip())
    hang = min(indent + 2 if hang is None else hang, width // 2)
    glue = " \\" if text.lstrip().partition("  ")[2].lstrip().startswith("elrcheck ") else ""
    broken: list[str] = []
    now = ""
    for part in _WORD.findall(text):
        start = " " * hang if broken else ""
        if not now.strip() or len(now + part.rstrip()) + len(glue) <= width:
            now = (now or start) + part
        else:
            broken.append(now.rstrip() + glue)
            now = " " * hang + part.lstrip()
    return [*broken, now.rstrip()]


def column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return a width for each column, at least its longest word; None if they do not fit beside each other."""
    columns = list(zip(*rows, strict=True))
    natural = [max(map(len, cells)) for cells in columns]
    least = [max(len(word) for cell in cells for word in [*cell.split(), ""]) for cells in columns]
    room = width - GAP * len(columns)
    if sum(natural) <= room:
        return natural
    if sum(least) > room:
        return None
    widths = least
    for _ in range(room - sum(least)):
        wants = [(have / want, n) for n, (have, want) in enumerate(zip(widths, natural, strict=True))]
        widths[min(wants)[1]] += 1
    return [min(have, want) for have, want in zip(widths, natural, strict=True)]


def stacked(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the rows of a table below each other, for a terminal too narrow for its columns."""
    texts = []
    for row in rows:
        filled = [(name, cell) for name, cell in zip(head, row, strict=True) if cell]
        for number, (name, cell) in enumerate(filled):
            label = f"{name}: " if name and number else ""
            texts += lines(("  " if number else "") + label + cell, width, 4)
    return texts
