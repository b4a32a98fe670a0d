"""The words that docs/glossary.md and `report_words.toml` explain, as entries of `list terms` and `show`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files

from elrcheck.catalogue.model_entries import Entry

PLACE = ("docs", "glossary.md")
REPORT_WORDS = ("catalogue", "report_words.toml")
LEFT_OUT = "Ids"
"""The section whose rows are patterns, not words."""
HEADS = frozenset({"Word", "Term"})
OR = "; or: "
"""Separates several meanings of a word."""


def term_entries() -> list[Entry]:
    """Return an entry for each row of the report words and of the glossary; a row may explain several words."""
    meanings: dict[str, list[str]] = {}
    report_words = (row for table in tomllib.loads(_text(REPORT_WORDS)).values() for row in table.items())
    for cell, meaning in (*report_words, *_rows(_text(PLACE))):
        meanings.setdefault(cell, []).append(meaning)
    return [
        {"name": cell, "summary": OR.join(texts), "aliases": re.split(r"[,;] ", cell)}
        for cell, texts in meanings.items()
    ]


def term(word: str) -> Entry | None:
    """Return the meanings of a word, ignoring case; None if the glossary has none. A word may be in several rows."""
    rows = [row for row in term_entries() if word.lower() in map(str.lower, (row["name"], *row["aliases"]))]
    if len(rows) < 2:
        return rows[0] if rows else None
    return {"name": word, "summary": OR.join(f"{row['name']}: {row['summary']}" for row in rows)}


def _text(place: tuple[str, ...]) -> str:
    return files("elrcheck").joinpath(*place).read_text(encoding="utf-8")


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of each row of the Markdown tables, and their meaning."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [_plain(cell) for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and section != LEFT_OUT and cells[0] not in HEADS:
            yield cells[0], f"[{cells[1]}] {cells[2]}" if len(cells) > 2 else cells[1]


def _plain(text: str) -> str:
    """Return Markdown without its links, quotes and emphasis."""
    linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(?<!\S)\*(\w[^*]*)\*", r"\1", linked).replace("`", "").strip()
