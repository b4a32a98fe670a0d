"""A catalogue entry as text: one line per key, several for a list or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.report.terminal import Page


def print_entry(entry: Mapping[str, Any], page: Page) -> None:
    """Prints a whole entry; omits a doc that only repeats the summary."""
    for key, value in entry.items():
        if key == "doc" and value == entry.get("summary"):
            continue
        lines = _lines(value)
        page.line(f"{key + ':':<12} {lines[0]}" if len(lines) == 1 else f"{key}:")
        for line in lines if len(lines) > 1 else ():
            page.line(f"    {line}")


def _lines(value: Any) -> list[str]:
    """A catalogue value as lines: one per member of a list or mapping."""
    if isinstance(value, dict):
        return [f"{key}: {_word(inner)}" if _word(inner) else key for key, inner in value.items()] or ["none"]
    if isinstance(value, list):
        return [_word(inner) for inner in value] or ["none"]
    return _word(value).strip().splitlines() or [""]


def _word(value: Any) -> str:
    """A JSON scalar in the notation of a scope file."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
