"""The words that docs/glossary.md explains, as entries of `list terms` and `show`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from elrcheck.catalogue.model_entries import Entry

PLACE = ("docs", "glossary.md")
LEFT_OUT = ("Ids", "Exit codes")
"""Sections whose rows are patterns and numbers, not words."""
HEADS = frozenset({"Word", "Term"})
OR = "; or: "
"""Between several meanings of a word."""


def term_entries() -> list[Entry]:
    """Return the rows of the glossary's tables, in their order: the words of a row are explained together."""
    meanings: dict[str, list[str]] = {}
    for cell, meaning in _rows(files("elrcheck").joinpath(*PLACE).read_text(encoding="utf-8")):
        meanings.setdefault(cell, []).append(meaning)
    return [
        {"name": cell, "summary": OR.join(texts), "aliases": re.split(r"[,;] ", cell)}
        for cell, texts in meanings.items()
    ]


def term(word: str) -> Entry | None:
    """Return what the glossary says of a word, in any case; None if nothing. A word may be in several rows."""
    rows = [row for row in term_entries() if word.lower() in map(str.lower, (row["name"], *row["aliases"]))]
    if len(rows) < 2:
        return rows[0] if rows else None
    return {"name": word, "summary": OR.join(f"{row['name']}: {row['summary']}" for row in rows)}


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of each row of the tables, and what it says of them, after the commands in brackets."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [_plain(cell) for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and section not in LEFT_OUT and cells[0] not in HEADS:
            yield cells[0], f"[{cells[1]}] {cells[2]}" if len(cells) > 2 else cells[1]


def _plain(text: str) -> str:
    """Markdown without its links, quotes and stress."""
    linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(?<!\S)\*(\w[^*]*)\*", r"\1", linked).replace("`", "").strip()
