"""docs/findings.md and docs/findings/table.md: the findings at a glance, and where each was shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from elrcheck.catalogue.finding_file import Finding
from elrcheck.laboratory.evidence.page_lines import head, paragraphs, table
from elrcheck.results.risk.finding_table import LEVELS, FindingRow, FindingTable, Level

SEVERITY = {"loss": "Records are lost", "unavailable": "No leader, or no broker"}


def index_page(findings: Sequence[Finding]) -> str:
    """Return docs/findings.md: a section for each severity that occurs, with a row for each finding, in their order."""
    lines = [head("findings")]
    for severity, title in SEVERITY.items():
        rows = [
            (_link("findings/", each.id), each.title, each.versions) for each in findings if each.severity == severity
        ]
        if rows:
            lines += (f"## {title}", "", *table(("finding", "what is wrong", "Kafka"), rows))
    return "\n".join(lines)


def version_page(finding_table: FindingTable, older: Collection[str]) -> str:
    """Return docs/findings/table.md: a row for each finding, a column for releases in a row with the same letters.

    older: findings whose searches are of an older model.
    """
    letters = {
        kafka: tuple("".join(_letter(row, each, kafka) for each in LEVELS) for row in finding_table.rows)
        for kafka in finding_table.releases
    }
    columns = [(", ".join(alike), column) for column, alike in groupby(letters, key=letters.__getitem__)]
    names = (_link("", row.finding) for row in finding_table.rows)
    rows = zip(names, *(column for _, column in columns), strict=True)
    stale = f"The model's source has changed since the searches of {', '.join(older)}."
    note = tuple(paragraphs(stale)) if older else ()
    return "\n".join((head("table"), *note, *table(("finding", *(releases for releases, _ in columns)), rows)))


def _link(folder: str, finding: str) -> str:
    return f"[{finding}]({folder}{finding}.md)"


def _letter(row: FindingRow, level: Level, kafka: str) -> str:
    states = {cell.state for cell in row.cells if (cell.level, cell.kafka) == (level, kafka)}
    letters: Iterator[str] = (
        letter
        for state, letter in (("shown", level[0].upper()), ("not-shown", level[0]), ("inconclusive", "?"))
        if state in states
    )
    return next(letters, "-")
