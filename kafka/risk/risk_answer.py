"""Explains a breaking set of events: the story of its trace in an operator's terms, cause, evidence and remedy."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from elrcheck.base.run_lock import in_another_folder
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.partition_picture import broker_list, sentence
from elrcheck.declared.select import resolve
from elrcheck.invariants.properties import ConsistentRead, NoCommittedRecordLost
from elrcheck.kafka.risk.causes import (
    RepairedRule,
    candidates,
    causes_of,
    expected,
    recognised,
    remedy_for_logs,
    repairs,
    unclean,
)
from elrcheck.kafka.risk.event_sets import KINDS, Events, counted, in_words
from elrcheck.kafka.risk.risk_search import OutOfTime, RiskSearch
from elrcheck.kafka.risk.settings_group import BY_SETTING, SettingsGroup
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.model.config import Config
from elrcheck.model.state import Partition, State, leads
from elrcheck.results.risk.finding_table import FindingRow, Level
from elrcheck.results.risk.risk_report import (
    EvidenceLevel,
    OutsideFinding,
    RiskAnswer,
    RiskCause,
    RiskOutcome,
    RiskSettings,
)
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.scenes import drawn_view


def story(states: Sequence[State], labels: Sequence[Label], ident: str) -> tuple[str, ...]:
    """Return the trace in sentences; the last one says what is lost."""
    first = states[0].partition
    sentences = [f"Replicas {broker_list(first.replicas)} are in sync, and broker {first.leader} leads."]
    for before, after, label in zip(states, states[1:], labels, strict=False):
        words = sentence(before, after, label)
        changes = _partition_changes(before, after)
        if not words and changes:
            words = "The controller writes a new partition record."
        if len(after.committed) > len(before.committed):
            words = f"{words} The record is replicated and acknowledged.".strip()
        if words:
            sentences.append(f"{words} {changes}".strip())
    return (*sentences, ending(states[-1], ident))


def ending(state: State, ident: str) -> str:
    """Return a sentence on what is lost in the last state."""
    if ident.startswith("STALL"):
        all_registered = all(state.registration[b].registered for b in state.partition.replicas)
        who = "Every replica is up" if all_registered else "Every replica that is registered is up"
        return f"{who}, and the partition has no leader; only an operator can give it one."
    leaders = [
        b
        for b, broker in enumerate(state.broker)
        if leads(state, b) and broker.view.leader_epoch == state.partition.leader_epoch
    ]
    if not any(state.broker[b].log for b in state.partition.replicas):
        return "No replica has the acknowledged record any more: it is lost."
    who = f"Broker {leaders[0]} leads" if leaders else "The leader serves"
    return f"{who} without the acknowledged record, and the others truncate to it: the record is lost."


def _partition_changes(before: State, after: State) -> str:
    """Return what changed in the partition record, as `kafka-topics --describe` shows it."""
    old, new = _described(before.partition), _described(after.partition)
    parts = [f"{name}: {value}" for name, value in new.items() if value != old[name]]
    return f"({'; '.join(parts)})" if parts else ""


def _described(p: Partition) -> dict[str, str]:
    leader = "none" if p.leader is None else str(p.leader)
    return {"Leader": leader, "Replicas": broker_list(p.replicas), "Isr": str(sorted(p.isr)), "Elr": str(sorted(p.elr))}


# ---------------------------------------------------------------------------- answers

LEVELS: Mapping[Level, EvidenceLevel] = {"classes": "controller", "brokers": "brokers"}
ON_REQUEST = "the operator who asks for an unclean election accepts a leader that lacks records"
START_FIRST = "Start the brokers that have the records, rather than request an unclean election."
NO_TIME = "the time ended before the search for its cause; give a longer --time-budget"


class KnownRules(NamedTuple):
    """The model, the findings, and by finding the evidence of them in each release."""

    model: Model
    findings: Sequence[Finding]
    rows: Mapping[str, FindingRow]


class Answerer:
    """Explains the breaking sets of one group of settings."""

    def __init__(self, rules: KnownRules, group: SettingsGroup, search: RiskSearch, folder: Path) -> None:
        self.model, self.group, self.search, self.folder = rules.model, group, search, folder
        self.findings = {finding.id: finding for finding in rules.findings}
        self.rows = rules.rows
        self.repairs = repairs(group, rules.findings)

    def answers(
        self, smallest: Sequence[tuple[RiskOutcome, Events]], ways: Mapping[RiskOutcome, str]
    ) -> tuple[RiskAnswer, ...]:
        """Explain each set: unexpected outcomes first, losses before outages, small sets before large ones."""
        suspects: dict[tuple[RiskOutcome, Events], list[RepairedRule]] = {}
        for outcome, events in smallest:
            ident = ways[outcome]
            labels, states = self.search.trace(events, ident)
            if self._setting(events, ident, states) is not None:
                continue
            too_many = outcome == "lost" and unclean(events, states)
            tried = [repair for repair in self.repairs if too_many or not repair.designed]
            with contextlib.suppress(OutOfTime):
                self.search.clock.demand()
                suspects[outcome, events] = candidates(
                    self.search.plain, self.search.config(events), labels, ident, tried, self.search.clock.demand
                )
        shared = self._shared(suspects)
        answers = [
            self._answer(outcome, events, ways[outcome], suspects.get((outcome, events)), shared)
            for outcome, events in smallest
        ]
        return tuple(sorted(answers, key=lambda answer: (answer.expected, answer.outcome != "lost")))

    def _shared(self, suspects: Mapping[tuple[RiskOutcome, Events], Sequence[RepairedRule]]) -> dict[str, list[str]]:
        """Return, by the knobs of a repair, the events of all searches with it, so that they share a kernel."""
        events_of: dict[str, set[str]] = defaultdict(set)
        for (_, events), suspected in suspects.items():
            for repair in suspected:
                events_of[str(sorted(repair.knobs))].update(events)
        return {knobs: [kind.name for kind in KINDS if kind.name in names] for knobs, names in events_of.items()}

    def _setting(self, events: Events, ident: str, states: Sequence[State]) -> tuple[RiskCause, bool] | None:
        """Return the setting or request that causes the outcome, and whether the outcome is expected."""
        text = expected(self.group, events, ident, states)
        is_expected = bool(text)
        if ident == "LOSS-2":
            text = "acks=1 promises no more than that the leader has appended the record"
        elif not text and ident == self.group.losses and "elect_unclean" in events:
            text = ON_REQUEST
        return (RiskCause("setting", text, confirmed=True), is_expected) if text else None

    def _answer(
        self,
        outcome: RiskOutcome,
        events: Events,
        ident: str,
        suspected: Sequence[RepairedRule] | None,
        shared: Mapping[str, Sequence[str]],
    ) -> RiskAnswer:
        labels, states = self.search.trace(events, ident)
        setting = self._setting(events, ident, states)
        if setting is not None:
            cause, designed = setting
            causes: tuple[RiskCause, ...] = (cause,)
        elif suspected is None:
            causes, designed = (RiskCause("unknown", NO_TIME),), False
        else:

            def prevents(knobs: Mapping[str, object], tried: Events, of: str) -> bool | None:
                kinds = shared.get(str(sorted(knobs)), list(dict.fromkeys(tried)))
                return self.search.prevents(knobs, tried, of, kinds)

            causing = causes_of(suspected, events, ident, prevents)
            designed = bool(causing) and all(repair.designed and sure for repair, sure in causing)
            if not causing and outcome == "unavailable":
                causing = tuple((repair, False) for repair in recognised(states, list(self.findings.values())))
            causes = tuple(self._cause(repair, sure) for repair, sure in causing)
            causes = causes or (RiskCause("unknown", "no known finding"),)
        levels, evidence_text = self._evidence([cause.finding for cause in causes if cause.finding])
        return RiskAnswer(
            events=counted(events),
            words=in_words(counted(events)),
            outcome=outcome,
            expected=designed,
            story=story(states, labels, ident),
            causes=causes,
            evidence=levels,
            shown=evidence_text,
            remedy=self._remedy(causes, setting is not None, states),
            command=self.group.command(events, ident),
            trace=self._stored(events, ident, states, labels),
            view=drawn_view(self.model, self.search.config(events), states, labels),
        )

    def _cause(self, repair: RepairedRule, sure: bool) -> RiskCause:
        if not repair.finding:
            return RiskCause("setting", repair.text, confirmed=sure)
        page = f"docs/findings/{repair.finding}.md"
        return RiskCause("finding", repair.text, repair.finding, page, sure)

    def _evidence(self, findings: Sequence[str]) -> tuple[tuple[EvidenceLevel, ...], str]:
        """Return the levels at which this release shows one of the findings, and the same in words."""
        release = self.group.settings.kafka
        levels: list[EvidenceLevel] = ["model"]
        words = ["model: this trace"]
        for level, name in LEVELS.items():
            rows = [self.rows[finding] for finding in findings if self.rows[finding].is_shown(level, release)]
            if rows:
                levels.append(name)
                evidence = (f"{row.finding} {row.words(level, release)}" for row in rows)
                words.append(f"{name}: {', '.join(evidence)}")
        if findings and len(levels) == 1:
            words.append(f"not shown on {release} itself")
        return tuple(levels), "; ".join(words)

    def _remedy(self, causes: Sequence[RiskCause], setting: bool, states: Sequence[State]) -> str:
        remedies = [self.findings[cause.finding].meanwhile for cause in causes if cause.finding]
        for repair in self.repairs:
            if not repair.finding and any(cause.text == repair.text for cause in causes):
                logs = remedy_for_logs(self.group, states)
                remedies += [logs if repair.designed else BY_SETTING[name] for name in repair.knobs]
        if setting and self.group.settings.acks != "all":
            remedies.append("Use acks=all.")
        elif setting:
            on_request = any(cause.text == ON_REQUEST for cause in causes)
            remedies.append(START_FIRST if on_request else remedy_for_logs(self.group, states))
        return " ".join(" ".join(part.split()) for part in dict.fromkeys(remedies) if part)

    def _stored(self, events: Events, ident: str, states: tuple[State, ...], labels: tuple[Label, ...]) -> str:
        """Write the trace to a file that `elrcheck replay` reads; return its path."""
        selected = resolve(self.group.selection(events))
        settings = self.group.settings
        elr = "elr" if settings.elr else "no-elr"
        base = f"{settings.kafka}-rf{settings.replication_factor}-min{settings.min_insync_replicas}-{elr}"
        path = self.folder / f"{base}-{'-'.join(events)}.{ident}.trace.json"
        origin = TraceOrigin.of(selected, violated_by(self.search.config(events), ident, states[-1]))
        with in_another_folder():
            write_trace(path, Behaviour(origin, states, labels), self.model.state_ty)
        return str(path)


def violated_by(config: Config, ident: str, last: State) -> str:
    """Return the property of the model that a trace with this outcome violates; empty if no property stands for it."""
    parts = {"P-6": ConsistentRead, "P-8": NoCommittedRecordLost} if ident == "LOSS-1" else {}
    return next((name for name, holds in parts.items() if not holds(config, last)), "")


def outside_findings(
    rules: KnownRules, settings: RiskSettings, answers: Sequence[RiskAnswer]
) -> tuple[OutsideFinding, ...]:
    """Return the findings that this release is known to have and that no answer shows, losses on brokers first."""
    named = {cause.finding for answer in answers for cause in answer.causes}
    outside = []
    for finding in rules.findings:
        row = rules.rows[finding.id]
        every: tuple[Level, ...] = ("model", *LEVELS)
        if finding.id in named or not any(row.is_shown(level, settings.kafka) for level in every):
            continue
        if finding.needs.met(settings):
            lost = finding.severity == "loss" and row.lost_on_brokers(settings.kafka)
            page = f"docs/findings/{finding.id}.md"
            outside.append(OutsideFinding(finding.id, finding.title, finding.lost, page, lost))
    return tuple(sorted(outside, key=lambda one: not one.loss_on_brokers))
