"""Markdown for the generated pages: their beginnings, tables, paragraphs, lists."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

WIDTH = 120


def head(page: str) -> str:
    """Return the beginning of a page, up to its first generated line: a file of `heads/`."""
    return (files("elrcheck.laboratory.evidence") / "heads" / f"{page}.txt").read_text("utf-8")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty line after it."""
    yield _row(columns)
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield _row(row)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def paragraphs(text: str) -> Iterator[str]:
    """Yield the wrapped paragraphs of a text, each with an empty line after it."""
    for part in text.split("\n\n"):
        if part.strip():
            yield from wrapped(part)
            yield ""


def wrapped(text: str, bullet: str = "") -> list[str]:
    """Return lines of up to 120 characters; a command in backticks stays on one line."""
    glue = "\x00"
    parts = " ".join(text.split()).split("`")
    unbroken = "`".join(part.replace(" ", glue) if n % 2 else part for n, part in enumerate(parts))
    lines = textwrap.wrap(
        unbroken,
        WIDTH,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(glue, " ") for line in lines]
