"""`elrcheck risk`: the smallest sets of events after which a topic loses data, or stays without a leader.

Each set is decided by a bounded search of the model; the plain model follows every trace before it is reported. A set
that a limit left open is undecided, never safe.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import comb
from pathlib import Path

from msgspec import structs

from elrcheck.base.errors import Interrupted
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.progress import Progress
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.checking.runs.folders import RUNS
from elrcheck.invariants.modules import load_outcome_model
from elrcheck.kafka.risk.event_sets import EventSets, contains, fitting, in_words, suspects
from elrcheck.kafka.risk.risk_answer import Answerer, KnownRules, outside_findings
from elrcheck.kafka.risk.risk_search import RiskSearch, Stopwatch, TimeBudget
from elrcheck.kafka.risk.settings_group import SettingsGroup, group_of, setting_risks
from elrcheck.results.risk.risk_report import (
    RiskAnswer,
    RiskDifference,
    RiskOutcome,
    RiskPart,
    RiskReach,
    RiskReport,
    RiskVerdict,
)

STALL = "STALL-1"
WORST_FIRST: tuple[RiskVerdict, ...] = ("lost", "unavailable", "inconclusive", "no_loss")
NOT_TRIED = (
    "brokers that apply metadata late: each applies the newest record when it applies any",
    "answers of the controller or of a leader that are lost or late",
    "more than one record, transactions, and more brokers than replicas",
    "controlled shutdown in its single steps",
)
"""Behaviour that the searches leave out, whatever the settings."""


def run_risk(
    requests: Sequence[RiskRequest], progress: Progress, unread: Sequence[str] = (), not_searched: int = 0
) -> RiskReport:
    """Answer for each group of settings. Raises UsageFault for impossible settings, Interrupted by Ctrl-C.

    unread, not_searched: lines and topics of a description that are left out.
    """
    watch = Stopwatch()
    groups = [group_of(request) for request in requests]
    model = load_outcome_model()
    findings = packaged_findings()
    rows = {row.finding: row for row in finding_table().rows}
    rules = KnownRules(model, findings, rows)
    slowness, started, parts = watch.slowness(), watch.started, list[RiskPart]()
    with Interrupts() as stop:
        for group, request in zip(groups, requests, strict=True):
            clock = TimeBudget(request.seconds, started, slowness)
            parts.append(_answered(rules, group, request, clock, progress, stop))
            started = time.monotonic()
    first, *others = parts
    verdicts = [part.verdict for part in parts]
    verdict = next(word for word in WORST_FIRST if word in verdicts)
    stored = any(answer.trace for part in parts for answer in part.answers)
    whole = structs.asdict(first) | {"seconds": round(watch.seconds(), 3)}
    return RiskReport(
        **whole,
        verdict=verdict,
        tried={kind.name: kind.words for kind in groups[0].kinds},
        not_tried=NOT_TRIED,
        others=tuple(others),
        differences=differences(first, others),
        unread=tuple(unread),
        not_searched=not_searched,
        run_dir=str(_folder(requests[0])) if stored else None,
    )


def _folder(request: RiskRequest) -> Path:
    return request.run_dir or RUNS / "risk"


def _answered(
    rules: KnownRules,
    group: SettingsGroup,
    request: RiskRequest,
    clock: TimeBudget,
    progress: Progress,
    stop: Interrupts,
) -> RiskPart:
    """Search and explain one group of settings."""
    findings = rules.findings
    names = [kind.name for kind in group.kinds]
    ways: dict[RiskOutcome, str] = {"lost": group.losses, "unavailable": STALL}
    suspected = suspects(findings, request.most)
    sets = EventSets(names, tuple(ways.values()), request.most, suspected, fitting(findings, group.config))
    search = RiskSearch(rules.model, group, sets, request, clock, progress, stop)
    search.run()
    answerer = Answerer(rules, group, search, _folder(request))
    smallest = [(outcome, events) for outcome, ident in ways.items() for events in sets.smallest(ident)]
    try:
        answers = answerer.answers(smallest, ways)
    finally:
        search.keep()
    if stop.requested:
        raise Interrupted(
            "interrupted",
            f"stopped after {search.searched} sets of events",
            help="what was found is kept: the same command continues there",
        )
    reached = {outcome: _reach(sets, ident, names) for outcome, ident in ways.items()}
    involved = {name for answer in answers for name in answer.events}
    return RiskPart(
        settings=group.settings,
        answers=answers,
        safe_up_to=reached,
        safe_events=tuple(name for name in names if name not in involved),
        topics=group.topics,
        notes=group.notes,
        outside=outside_findings(rules, group.settings, answers),
        by_design=setting_risks(group.settings),
        searched=search.searched,
        states=search.states,
        seconds=round(clock.passed(), 3),
        kept=search.origin,
        time_budget=request.seconds,
        compiling=round(search.compiling, 3),
        compiled=search.compiled,
    )


def _reach(sets: EventSets, ident: str, names: Sequence[str]) -> RiskReach:
    every = sum(comb(len(names) + size - 1, size) for size in range(1, sets.most + 1))
    return RiskReach(sets.safe_up_to(ident), sets.most, every, len(sets.undecided(ident)))


def differences(first: RiskPart, others: Sequence[RiskPart]) -> tuple[RiskDifference, ...]:
    """Return the answers that some parts have and others have not."""
    parts = (first, *others)
    of_part = [{(answer.outcome, tuple(answer.events.items())): answer for answer in part.answers} for part in parts]
    lines = []
    for outcome, items in dict.fromkeys(key for answers in of_part for key in answers):
        if all((outcome, items) in answers for answers in of_part):
            continue
        pairs = zip(of_part, parts, strict=True)
        here, *there = (_word(answers.get((outcome, items)), part, outcome, dict(items)) for answers, part in pairs)
        lines.append(RiskDifference(dict(items), in_words(dict(items)), outcome, here, tuple(there)))
    return tuple(lines)


def _word(answer: RiskAnswer | None, part: RiskPart, outcome: RiskOutcome, events: dict[str, int]) -> str:
    """Return the cell of one side: its outcome of these events."""
    if answer is not None:
        return "expected loss" if answer.expected else answer.outcome
    smaller = [a for a in part.answers if a.outcome == outcome and contains(events, a.events)]
    if smaller:
        return f"already by {smaller[0].words}"
    return "no" if sum(events.values()) <= part.safe_up_to[outcome].events else "undecided"
