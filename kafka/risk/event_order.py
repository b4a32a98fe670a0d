"""The sets of events to search first: those of the findings, since a search that finds a violation ends soon.

Only the order depends on it, not the answer of any set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from elrcheck.catalogue.evidence.attributed import repair_in
from elrcheck.catalogue.evidence.searched import BUDGETS
from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.kafka.risk.event_kinds import KINDS, Events
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_named

DOWN = ("stop", "kill", "crash", "fence")
"""Ways to take a broker down, which can often replace each other."""
LOSSES = ("P-6", "P-8")
"""An acknowledged record is lost."""
LEADERLESS = ("V-8",)
"""The partition stays without a leader."""
SIZES = ("broker_count", "partition_zero_replicas")
"""Sizes that `risk` sets by the replication factor, so that a search of a finding may differ in them."""
OTHER = {*BUDGETS, *SIZES}
PLACES = {kind.name: place for place, kind in enumerate(KINDS)}


def suspects(findings: Sequence[Finding], most: int) -> dict[Events, Events]:
    """Return the events of each search of a finding -> themselves, and variants with other stops -> those events."""
    suspected: dict[Events, Events] = {}
    for finding in findings:
        for run in finding.runs:
            if not run.breaks:
                continue
            events = _events_of(run)
            if 1 <= len(events) <= most:
                suspected |= {other: events for other in _variations(events) if other not in suspected}
                suspected[events] = events
    return suspected


def fitting(findings: Sequence[Finding], config: Config) -> frozenset[Events]:
    """Return the events of recorded searches that lose a record, or have no leader, under these rules and settings.

    The release of such a search has the finding, and differs in no other rule.
    """
    return frozenset(
        _events_of(run)
        for finding in findings
        if repair_in(config, finding)
        for run in finding.runs
        if any(ident in run.breaks for ident in (*LOSSES, *LEADERLESS))
        and all(getattr(config, name) == value for name, value in run.knobs.items() if name not in OTHER)
        and _with_elr(run) == config.elr_enabled
    )


def _with_elr(run: FindingRun) -> bool:
    """Return whether ELR was on in this search: as it says, else as its variant has it."""
    variant = variant_named(run.variant)
    knobs = {**({} if variant is None else variant.knobs), **run.knobs}
    return bool(knobs.get("elr_enabled", Config().elr_enabled))


def _events_of(run: FindingRun) -> Events:
    return tuple(kind.name for kind in KINDS for _ in range(int(run.knobs.get(kind.budget, 0))))


def _variations(events: Sequence[str]) -> Iterator[Events]:
    for chosen in itertools.product(*(DOWN if name in DOWN else (name,) for name in events)):
        yield tuple(sorted(chosen, key=PLACES.__getitem__))
