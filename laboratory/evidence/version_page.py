"""docs/findings/table.md: findings by release, and below it what each cell stands for, with its command."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.catalogue.finding_page import LEVEL
from elrcheck.catalogue.select import release_numbers
from elrcheck.results.finding_table import LEVELS, FindingRow, FindingTable, TableLine

HEAD = """\
# Findings by release of Kafka

<!-- Written by `python docs/generate_findings.py`; `elrcheck list findings --by-version` prints it. -->

* **model**: the finding's search under the rules of the release, which `breaks` a property or `holds`. What
  also breaks with the rule repaired does not count: `masked`, by another finding.
* **classes**: the test that `elrcheck export junit` makes, on the released jars. It `fails` where the finding
  is there, and `passes` where it is not. `seen`: a walk of the same classes.
* **brokers**: `elrcheck reproduce` on a cluster of the release: `lost` (acknowledged records), `no leader`,
  `not seen` or `inconclusive`. `by hand`: by the steps of the finding's page, before there was a recipe.

`not tried` says that nothing is on record. `absent` says so too, and that the release does not have what the
finding needs: below is the class that prevents it.
"""


def version_page(table: FindingTable) -> str:
    lines = [HEAD, *_overview(table)]
    for row in table.rows:
        lines += _section(row)
    return "\n".join(lines).rstrip() + "\n"


def _overview(table: FindingTable) -> Iterator[str]:
    yield _cells("finding", "in", *table.releases)
    yield "|---" * (2 + len(table.releases)) + "|"
    for row in table.rows:
        for level in LEVELS:
            name = f"[{row.finding}](#{row.finding.lower()})"
            yield _cells(name, level, *(row.words(level, release) for release in table.releases))
    yield ""


def _section(row: FindingRow) -> Iterator[str]:
    yield from (f"## {row.finding}", "", f"[{row.title}]({row.finding}.md)", "")
    yield from (_cells("in", "Kafka", "result", "command"), "|---|---|---|---|")
    yield from (_line(line) for line in row.lines())
    yield ""
    for by, releases in _prevented(row):
        yield from (f"Not on {', '.join(releases)}: {by}.", "")


def _line(line: TableLine) -> str:
    command = f"`{line.command}`" if line.command else ""
    releases = ", ".join(sorted(line.releases, key=release_numbers))
    return _cells(LEVEL[line.level], releases, line.result, command)


def _prevented(row: FindingRow) -> Iterator[tuple[str, list[str]]]:
    for by in dict.fromkeys(row.prevented.values()):
        yield by.rstrip("."), [release for release, why in row.prevented.items() if why == by]


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
