"""The cause of an outcome: the rule whose repair prevents it.

A repair is a candidate if the trace is not a behaviour of the repaired rules. It is the cause if a search of the
same events with the repaired rules finds no such outcome. If each of several findings suffices, only all repairs
together prevent it. A finding without a repair in the model is recognised by its characteristic step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from elrcheck.catalogue.evidence.attributed import happens, repair_in
from elrcheck.catalogue.finding_file import Finding
from elrcheck.kafka.risk.event_sets import LOSING, UNCLEAN, Events
from elrcheck.kafka.risk.settings_group import SettingsGroup
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import LastKnownLeader
from elrcheck.model.config import Config
from elrcheck.model.state import State, configured_min_isr

Prevents = Callable[[Mapping[str, Any], Events, str], bool | None]
"""Returns whether the outcome never happens with some rules repaired; None if a limit was hit."""


@dataclass(frozen=True)
class RepairedRule:
    """A rule or a setting with another value. finding: its id, empty for a setting; text: the cause in words.

    designed: KIP-966 accepts the loss, after as many unclean shutdowns as min.insync.replicas.
    """

    knobs: Mapping[str, Any]
    finding: str = ""
    text: str = ""
    designed: bool = False


def repairs(group: SettingsGroup, findings: Sequence[Finding]) -> tuple[RepairedRule, ...]:
    """Return every repair that changes something under these settings: settings first, then findings."""
    config, settings = group.config, group.settings
    changes = []
    if settings.unclean_leader_election_enable:
        changes.append(
            RepairedRule(
                {"unclean_leader_election_enable": False},
                text="unclean.leader.election.enable=true allows it: a replica that lacks records may be elected",
            )
        )
    for finding in findings:
        if knobs := repair_in(config, finding):
            changes.append(RepairedRule(knobs, finding.id, finding.title))
    if settings.elr:
        changes.append(
            RepairedRule(
                {"last_known_leader": LastKnownLeader.NEVER},
                designed=True,
                text="not a bug: as many unclean shutdowns as min.insync.replicas empty ISR and ELR, and the last"
                " known leader is elected, whatever it has (the controller takes a kill for a loss)",
            )
        )
    if not settings.elr:
        changes.append(
            RepairedRule(
                {"elr_enabled": True},
                text="ELR is off: without it nothing protects what only the last member of the ISR has",
            )
        )
        changes.append(
            RepairedRule(
                {"elr_enabled": True, "last_known_leader": LastKnownLeader.NEVER},
                designed=True,
                text="not a bug: ELR is off, so nothing protects what only the last member of the ISR has. Nor"
                " would ELR alone: as many unclean shutdowns as min.insync.replicas empty ISR and ELR, and the"
                " last known leader is elected, whatever it has (the controller takes a kill for a loss)",
            )
        )
    return tuple(changes)


def recognised(states: Sequence[State], findings: Sequence[Finding]) -> tuple[RepairedRule, ...]:
    """Return the findings without a repair whose step is in the trace of a partition that stays without a leader."""
    titles = {finding.id: finding.title for finding in findings}
    steps = list(pairwise(states))
    happened = [name for name, happens in BY_STEP.items() if any(happens(*step) for step in steps)]
    return tuple(RepairedRule({}, name, titles[name]) for name in happened)


def _on_without_leader(before: State, after: State) -> bool:
    """Return whether ELR is switched on while the last member of the ISR is fenced."""
    on = after.settings.elr_enabled and not before.settings.elr_enabled
    return on and before.partition.leader is None and bool(before.partition.isr)


def _off_without_isr(before: State, after: State) -> bool:
    """Return whether ELR is switched off while the ISR is empty, after which no leader can be elected."""
    off = before.settings.elr_enabled and not after.settings.elr_enabled
    return off and before.partition.leader is None and not before.partition.isr


BY_STEP: Mapping[str, Callable[[State, State], bool]] = {"F-26": _on_without_leader, "F-57": _off_without_isr}
"""Findings for which the model has no repair, by the step that they are about: the states around it."""


def expected(group: SettingsGroup, events: Events, ident: str, states: Sequence[State]) -> str:
    """Return why a loss is expected, since more logs are lost than the settings tolerate; "" if it may be a bug."""
    if ident != group.losses or group.settings.acks != "all":
        return ""
    lost = sum(events.count(name) for name in LOSING)
    copies = min(_copies(state) for state in states)
    if lost < copies:
        return ""
    if _fewer_than_set(group, states):
        return f"an operator leaves the partition {_number(copies)}, and {_logs(lost)} lost"
    return (
        f"not a bug: min.insync.replicas {group.settings.min_insync_replicas} tolerates {copies - 1} lost"
        f" log{'' if copies == 2 else 's'}, and {_logs(lost)} lost"
    )


def _fewer_than_set(group: SettingsGroup, states: Sequence[State]) -> bool:
    """Return whether an operator has left fewer copies than the settings ask for."""
    most = min(group.settings.min_insync_replicas, group.settings.replication_factor)
    return min(_copies(state) for state in states) < most


def remedy_for_logs(group: SettingsGroup, states: Sequence[State]) -> str:
    """Return what helps where more logs are lost than the settings tolerate.

    A min.insync.replicas above the replication factor counts as that factor, so raising it beyond changes nothing.
    """
    settings = group.settings
    if _fewer_than_set(group, states):
        instead = "leave the partition its replicas and its min.insync.replicas"
    elif settings.min_insync_replicas < settings.replication_factor:
        instead = "raise min.insync.replicas"
    else:
        instead = "add replicas, then raise min.insync.replicas"
    return f"Let fewer logs be lost at once (other racks, log.flush.interval), or {instead}."


def unclean(events: Events, states: Sequence[State]) -> bool:
    """Return whether as many brokers stopped uncleanly as an acknowledged record must have copies."""
    return sum(events.count(name) for name in UNCLEAN) >= min(_copies(state) for state in states)


def _number(copies: int) -> str:
    return "a single copy" if copies == 1 else f"{copies} copies that count"


def _logs(lost: int) -> str:
    return "1 log is" if lost == 1 else f"{lost} logs are"


def _copies(state: State) -> int:
    """Return on how many replicas an acknowledged record must be."""
    return min(configured_min_isr(state.settings), len(state.partition.replicas))


def candidates(
    plain: Callable[[Config], PlainModel],
    config: Config,
    labels: Sequence[Label],
    ident: str,
    repairs: Sequence[RepairedRule],
    between: Callable[[], object] = bool,
) -> list[RepairedRule]:
    """Return the repairs that make the trace impossible, or end it without the violation.

    between: called before each of them; it may raise to end this.
    """

    def remains(repair: RepairedRule) -> bool:
        between()
        repaired = plain(replace(config, **repair.knobs))
        return happens(repaired, labels, repaired.model.properties_by_id[ident])

    return [repair for repair in repairs if not remains(repair)]


def causes_of(
    suspects: Sequence[RepairedRule], events: Events, ident: str, prevents: Prevents
) -> tuple[tuple[RepairedRule, bool], ...]:
    """Return the causes among the candidates, each with whether a search has confirmed it."""
    undecided = []
    for repair in suspects:
        holds = prevents(repair.knobs, events, ident)
        if holds:
            return ((repair, True),)
        if holds is None:
            undecided.append((repair, False))
    if undecided:
        return tuple(undecided[:1])
    together: dict[str, Any] = {}
    for repair in suspects:
        together |= repair.knobs
    if len(suspects) > 1 and prevents(together, events, ident):
        return tuple((repair, True) for repair in suspects)
    return ()
