"""Which sets of events are searched first: those of the findings, since a search that breaks ends soon.

This is about order only. A set that is searched late is decided in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from elrcheck.catalogue.finding_file import Finding
from elrcheck.commands.risk.event_kinds import KINDS, Events

DOWN = ("stop", "kill", "crash", "fence")
"""Ways to take a broker down, which often do for each other."""
PLACES = {kind.name: place for place, kind in enumerate(KINDS)}


def suspects(findings: Sequence[Finding], most: int) -> dict[Events, Events]:
    """The events of every search of a finding; and what takes brokers down in other ways -> these events."""
    found: dict[Events, Events] = {}
    for finding in findings:
        for run in finding.runs:
            if not run.breaks:
                continue
            events = [
                kind.name for kind in KINDS for _ in range(int(run.knobs.get(kind.budget, 0)))
            ]
            if 1 <= len(events) <= most:
                found |= {other: tuple(events) for other in _variations(events) if other not in found}
                found[tuple(events)] = tuple(events)
    return found


def _variations(events: Sequence[str]) -> Iterator[Events]:
    for chosen in itertools.product(*(DOWN if name in DOWN else (name,) for name in events)):
        yield tuple(sorted(chosen, key=PLACES.__getitem__))
