"""docs/findings.md and docs/findings/table.md: the findings at a glance, and where each was shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from elrcheck.catalogue.finding_file import Finding
from elrcheck.laboratory.evidence.page_lines import paragraphs, table
from elrcheck.results.finding_table import LEVELS, FindingRow, FindingTable, Level

INDEX = """\
# What elrcheck finds

A finding is shown on up to three levels: in the **model**, by a shortest counterexample of a complete search, which
plain Python replays; in Kafka's own released **classes**, driven by the same steps; on **brokers**, a real cluster on
loopback. Each has a control: the same run with only the rule at fault repaired, in which nothing breaks.

`elrcheck show F-20` prints a finding. On its page, `P-1 at depth 7` is a shortest counterexample of seven steps, and a
recipe's run and control count the records acknowledged with acks=all; `$B` is HOST:PORT of a running broker, `$PID_0`
the process of broker 0. `elrcheck reproduce F-20 --kafka 4.1.2 --patched` tries the smallest patch on brokers,
`elrcheck export upstream F-20 --out DIR --run` with Kafka's own tests.

[The table](findings/table.md) says in which releases each was shown, [the hunt](findings/hunt.md) what single
operations with faults break and why; `elrcheck suite` explains the violations of the suites.

<!-- Written by `python docs/generate_pages.py` from catalogue/findings/*.toml: edit those. -->
"""
TABLE = """\
# Findings by release of Kafka

<!-- Written by `python docs/generate_pages.py`; `elrcheck list findings --by-version` prints it, with commands. -->

| Letter | Level | Capital | Small |
|---|---|---|---|
| M, m | the model | its search under the rules of the release breaks a property | it holds |
| C, c | Kafka's own classes | the test that `elrcheck export junit` makes fails, or a walk shows it | it passes |
| B, b | brokers | `elrcheck reproduce`, or the steps of the finding's page, lost records or the leader | not seen |

`?` is an inconclusive run, or a search that breaks with the rule repaired as well, because of another finding. `-` was
not tried, mostly because the release lacks what the finding needs: 3.9.1 has no ELR (MetadataVersion.isElrSupported);
the finding's page has other reasons.
"""
SEVERITY = {"loss": "Records are lost", "unavailable": "No leader, or no broker"}


def index_page(findings: Sequence[Finding]) -> str:
    """Return docs/findings.md: a section for each severity that occurs, with a row for each finding, in their order."""
    lines = [INDEX]
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
    return "\n".join((TABLE, *note, *table(("finding", *(releases for releases, _ in columns)), rows)))


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
