"""docs/findings/causes.md: why released variants break something in the packaged suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.checking.suite.suite_file import Family
from elrcheck.laboratory.evidence.page_lines import table

SUITES = """\
# Causes of violations

<!-- Written by `python docs/generate_pages.py` from the suites. -->

The [suites](../suite.md) combine operations with faults under the rules of released Kafka. Every violation there has
one of these reasons; `elrcheck suite` fails if one has none, or if a reason no longer applies.
"""


def cause_page(suites: Sequence[Family]) -> str:
    """Return the page."""
    return "\n".join((SUITES, *table(("cause", "why", "configurations"), _reasons(suites))))


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
