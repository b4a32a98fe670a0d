"""docs/findings/causes.md: the distinct causes of what released Kafka breaks, each with its control.

A row is a finding that some release shows, in the model, in its classes or on brokers. Below are the
violations of released variants in the packaged suites, sorted by these causes, and the other hazards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from elrcheck.catalogue.evidence.searched import RELEASED, FindingSearch
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.hazards import HAZARDS
from elrcheck.catalogue.select import release_numbers
from elrcheck.catalogue.suite_file import Family
from elrcheck.results.finding_table import LEVELS, FindingRow, FindingTable, Level

HEAD = """\
# Causes

<!-- Written by `python docs/generate_findings.py` from the findings, the suites and what was recorded. -->

What released Kafka breaks, sorted by cause: one repair for each. "Shortest" is the least number of steps to
a violation under the rules of a release, in the search of [the table](table.md). The control is the same
search with the rule repaired, where none of these properties breaks; "patch" says on which classes and
brokers the repair was tried as well. What operators can do meanwhile is on the page of each.
[The hunt](hunt.md) says which of them explain what operations and faults break.
"""
BY_DESIGN = """\
## Violations in the suites

The [suites](../suite.md) put operations and faults to released variants. Every violation there has one of
these reasons; `elrcheck suite` fails if one has none, or if a reason no longer applies.
"""
ELSEWHERE = """\
## Other hazards

Hazards of the model that were shown in no release here. Most are mended in all of them; the model breaks with
the old rule (`elrcheck mutate`).
"""
COLUMNS = ("", "cause", "lost", "shortest", *LEVELS, "known issue", "control in the model", "patch")


@dataclass(frozen=True)
class Cause:
    """A finding that a release shows. releases: level -> those in which it was shown."""

    finding: Finding
    shortest: str
    releases: Mapping[Level, tuple[str, ...]]


def causes(findings: Sequence[Finding], searches: Sequence[FindingSearch], table: FindingTable) -> list[Cause]:
    rows = {row.finding: row for row in table.rows}
    found = [
        Cause(each, _shortest(each, searches), {level: _shown(rows[each.id], level) for level in LEVELS})
        for each in findings
    ]
    return [cause for cause in found if any(cause.releases.values())]


def _shown(row: FindingRow, level: Level) -> tuple[str, ...]:
    shown = {cell.kafka for cell in row.cells if cell.level == level and cell.state == "shown"}
    return tuple(sorted(shown, key=release_numbers))


def _shortest(finding: Finding, searches: Sequence[FindingSearch]) -> str:
    """The nearest violation in any release, by the property that is listed first."""
    depths = [
        (search.breaks[name], name) for search in searches if search.finding == finding.id for name in search.shown
    ]
    if not depths:
        return "no search"
    least = min(depth for depth, _ in depths)
    return f"{', '.join(dict.fromkeys(name for depth, name in depths if depth == least))} at {least}"


def cause_page(found: Sequence[Cause], suites: Sequence[Family], every: Sequence[str]) -> str:
    """every: all releases of the table, in order."""
    lines = [HEAD, *_rows(found, every), *_sorted_violations(suites), *_elsewhere({each.finding.id for each in found})]
    return "\n".join(lines).rstrip() + "\n"


def _rows(found: Sequence[Cause], every: Sequence[str]) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for cause in found:
        finding = cause.finding
        cells = (
            f"[{finding.id}]({finding.id}.md)",
            finding.title,
            finding.lost,
            cause.shortest,
            *(spans(cause.releases[level], every) for level in LEVELS),
            finding.issue,
            _control(finding),
            _patch(finding),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def spans(releases: Sequence[str], every: Sequence[str]) -> str:
    """Releases that follow each other as `4.0.0 to 4.2.1`."""
    runs: list[list[str]] = []
    for release in releases:
        if runs and every.index(release) == every.index(runs[-1][-1]) + 1:
            runs[-1].append(release)
        else:
            runs.append([release])
    parts = (f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)
    return ", ".join(parts) or "not shown"


def _control(finding: Finding) -> str:
    repaired = dict.fromkeys(name for run in finding.runs if run.control is not None for name in run.control.knobs)
    return ", ".join(f"`{name}`" for name in repaired) or "none"


def _patch(finding: Finding) -> str:
    if finding.patch is None:
        return "none tried"
    tried = [("classes", finding.patch.classes), ("brokers", finding.patch.brokers)]
    said = "; ".join(f"{where} {', '.join(releases)}" for where, releases in tried if releases)
    return said or "in words"


# ---------------------------------------------------------------------------- the suites


def _sorted_violations(suites: Sequence[Family]) -> Iterator[str]:
    released = {name for variant in RELEASED for name in (variant.name, *variant.aliases)}
    sorted_by: dict[tuple[str, str], dict[str, list[str]]] = {}
    for family in suites:
        for case in family.cases:
            if case.selection.variant not in released:
                continue
            for name, because in case.violates.items():
                reason = (because.finding or "", because.why)
                sorted_by.setdefault(reason, {}).setdefault(case.name, []).append(name)
    yield BY_DESIGN
    yield "| cause | why | configurations |"
    yield "|---|---|---|"
    for (finding, why), cases in sorted(sorted_by.items(), key=lambda item: (item[0][0] == "", item[0])):
        where = "; ".join(f"`{case}`: {', '.join(broken)}" for case, broken in cases.items())
        yield f"| {finding or 'by design'} | {why} | {where} |"
    yield ""


def _elsewhere(shown: set[str]) -> Iterator[str]:
    yield ELSEWHERE
    for hazard in HAZARDS:
        if hazard.id not in shown and hazard.left_out is None:
            yield f"* {hazard.id}, {hazard.title}: {hazard.issue}"
