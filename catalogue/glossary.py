"""The words that docs/glossary.md and `report_words.toml` explain, as entries of `list terms` and `show`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files

from elrcheck.catalogue.model_entries import Entry

PLACE = ("docs", "glossary.md")
REPORT_WORDS = ("catalogue", "report_words.toml")
LEFT_OUT = ("Ids", "Exit codes")
"""Sections to skip: their rows are patterns and numbers, not words."""
HEADS = frozenset({"Word", "Term"})
OR = "; or: "
"""Separates several meanings of a word."""


def term_entries() -> list[Entry]:
    """Return the words of reports and of the glossary, in their order; a row explains its words together."""
    meanings: dict[str, list[str]] = {}
    for cell, meaning in (*_report_words(_text(REPORT_WORDS)), *_rows(_text(PLACE))):
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
    """Yield the words of each row of the tables, and their meaning, without the commands in brackets."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [_plain(cell) for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and section not in LEFT_OUT and cells[0] not in HEADS:
            yield cells[0], f"[{cells[1]}] {cells[2]}" if len(cells) > 2 else cells[1]


def _report_words(text: str) -> Iterator[tuple[str, str]]:
    tables: dict[str, dict[str, str]] = tomllib.loads(text)
    for table in tables.values():
        yield from table.items()


def _plain(text: str) -> str:
    """Return Markdown without its links, quotes and emphasis."""
    linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(?<!\S)\*(\w[^*]*)\*", r"\1", linked).replace("`", "").strip()
