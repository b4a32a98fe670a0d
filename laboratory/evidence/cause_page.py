"""docs/findings/causes.md: why released variants break something in the packaged suites, and other hazards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.catalogue.hazards import HAZARDS
from elrcheck.catalogue.suite_file import Family
from elrcheck.laboratory.evidence.page_lines import table
from elrcheck.results.finding_table import FindingTable

SUITES = """\
# Causes of violations

<!-- Written by `python docs/generate_pages.py` from the suites and the hazards. -->

The [suites](../suite.md) put operations and faults to released variants. Every violation there has one of these
reasons; `elrcheck suite` fails if one has none, or if a reason no longer applies.
"""
HAZARDS_ELSEWHERE = """\
## Other hazards

Hazards of the model that no release shows. Most are mended in all of them; the model breaks with the old rule
(`elrcheck mutate`).
"""


def shown_findings(findings: FindingTable) -> set[str]:
    """Return the findings that a release shows, in the model, in its classes or on brokers."""
    return {row.finding for row in findings.rows if any(cell.state == "shown" for cell in row.cells)}


def cause_page(suites: Sequence[Family], shown: Collection[str]) -> str:
    """Return the page. shown: ids of findings, which are left out of the other hazards."""
    rows = table(("cause", "why", "configurations"), _reasons(suites))
    return "\n".join((SUITES, *rows, HAZARDS_ELSEWHERE, *_other_hazards(shown))) + "\n"


def _reasons(suites: Sequence[Family]) -> Iterator[Sequence[str]]:
    released = {name for variant in RELEASED for name in (variant.name, *variant.aliases)}
    cases: dict[tuple[bool, str, str], list[str]] = {}
    for family in suites:
        for case in family.cases:
            if case.selection.variant in released:
                for reason in case.violates.values():
                    key = (reason.finding is None, reason.finding or "by design", reason.why)
                    cases.setdefault(key, []).append(f"`{case.name}`")
    for (_, cause, why), names in sorted(cases.items()):
        yield cause, why, ", ".join(dict.fromkeys(names))


def _other_hazards(shown: Collection[str]) -> Iterator[str]:
    for hazard in HAZARDS:
        if hazard.id not in shown and hazard.left_out is None:
            yield f"* {hazard.id}, {hazard.title}: {hazard.issue}"
