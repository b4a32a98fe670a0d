"""Findings by release as text: the table, and below it the command of every cell."""

from __future__ import annotations

from elrcheck.report.terminal import Page
from elrcheck.results.finding_table import LEVELS, FindingTable


def print_finding_table(table: FindingTable, page: Page) -> None:
    rows = (
        (row.finding, level, *(row.words(level, release) for release in table.releases))
        for row in table.rows
        for level in LEVELS
    )
    page.table(("finding", "in", *table.releases), rows)
    for row in table.rows:
        page.line(f"{row.finding}  {row.title}", style="bold")
        for line in row.lines():
            page.line(f"  {line.level:<8} {', '.join(line.releases)}: {line.result}")
            page.labelled("", line.command, indent=1)
        page.line()
