"""A catalogue entry as text: one line per key, several for a list or a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from elrcheck.base.typed.configuration import setting_text
from elrcheck.report.document import Block, Labelled, Line, Table
from elrcheck.results.risk.finding_table import FindingTable


def entry_blocks(entry: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a whole entry, without a doc that only repeats the summary."""
    for key, value in entry.items():
        if key == "doc" and value == entry.get("summary"):
            continue
        lines = _lines(value)
        yield Line(f"{key + ':':<12} {lines[0]}" if len(lines) == 1 else f"{key}:")
        for line in lines if len(lines) > 1 else ():
            yield Line(f"    {line}")


def _lines(value: Any) -> list[str]:
    """Return a catalogue value as lines: one per member of a list or mapping."""
    if isinstance(value, dict):
        return [f"{key}: {_word(inner)}" if _word(inner) else key for key, inner in value.items()] or ["none"]
    if isinstance(value, list):
        return [_word(inner) for inner in value] or ["none"]
    return _word(value).strip().splitlines() or [""]


def _word(value: Any) -> str:
    """Return a JSON scalar in the notation of a scope file."""
    return "none" if value is None else setting_text(value)


def finding_table_blocks(table: FindingTable) -> Iterator[Block]:
    """Yield the strongest level at which each finding was shown in each release, then the evidence."""
    rows = [(row.finding, *map(row.strongest, table.releases)) for row in table.rows]
    yield Table(("shown", *table.releases), rows)
    for row in table.rows:
        yield Line(f"{row.finding}  {row.title}", style="bold")
        for line in row.lines():
            yield Line(f"  {line.level:<8} {', '.join(line.releases)}: {line.result}")
            yield Labelled("", line.command, indent=1)
        yield Line()
