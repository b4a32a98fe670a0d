"""The findings from which a partition is one step away, by the model's rules.

The model decides each step on the present partition, in the variants of the release: the reassignment under way is
cancelled or completed, a setting is written, a broker is unregistered, the feature is switched. The resulting
partition shows whether the finding begins. Steps that an operator may take with any healthy partition, such as a
reassignment, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from elrcheck.kafka.audit.explained import BrokerNumbers, altered_by_leader, partition_after
from elrcheck.kafka.audit.hazard_signs import Sign
from elrcheck.kafka.audit.judged import settings_of
from elrcheck.kafka.audit.record_check import replicas_of_zero
from elrcheck.kafka.audit.rules import variants_of
from elrcheck.kafka.conformance.model_side import NotRepresentable, configured, partition_of
from elrcheck.kafka.live.snapshot import BEHIND
from elrcheck.kafka.log.cluster_state import LOST, ClusterState, KnownBroker, PartitionKey, known_brokers
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition
from elrcheck.model.choices import LostDirectory
from elrcheck.model.config import Config
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.reassignment import is_reassigning
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Settings


@dataclass(frozen=True)
class StepConditions:
    """Conditions of a step that are not part of the state.

    level: the highest metadata.version that the brokers support. elr_supported: the feature can be switched
    on. unclean: topics that allow unclean elections. lag: seconds since a broker had read all metadata.
    """

    level: int
    elr_supported: bool = False
    unclean: frozenset[str] = frozenset()
    lag: Mapping[int, float] = field(default_factory=dict)


class StepQuestion(NamedTuple):
    """The inputs of a step, with brokers numbered from 0 in ascending order so that questions recur.

    zero: the number of replicas that the topic's partition 0 has. lost: replicas whose log directory is offline.
    """

    partition: KafkaPartition
    brokers: tuple[KnownBroker, ...]
    settings: Settings
    zero: int
    level: int
    elr_supported: bool
    unclean: bool
    lost: tuple[int, ...]


class NearFinding(NamedTuple):
    """A rule, and its message with places for brokers, each a number or several."""

    rule: str
    words: str
    brokers: tuple[int | tuple[int, ...], ...]


def next_signs(state: ClusterState, key: PartitionKey, around: StepConditions) -> Iterator[Sign]:
    """Yield the findings that the next step may begin, each rule once."""
    stored, topic = state.partitions[key], state.name_of(key)
    p = stored.shape.lists
    if (lag := around.lag.get(p.leader, 0.0)) > BEHIND:
        yield "leader-lags", f"leader {p.leader} had read all metadata {lag:.0f} s ago"
    if _is_calm(p) and LOST not in stored.shape.directories and topic not in around.unclean:
        return
    numbers = BrokerNumbers((*p.replicas, *p.isr, *p.elr, *p.last_known_elr, p.leader, *p.adding, *p.removing))
    brokers = known_brokers(numbers.ids, state.brokers, stored)
    place = {broker: number for number, broker in enumerate(numbers.ids)}
    question = StepQuestion(
        partition=numbers.of(stored, stored),
        brokers=brokers,
        settings=settings_of(state.min_isr, topic, state.elr_enabled, len(brokers)),
        zero=replicas_of_zero(state, key),
        level=around.level,
        elr_supported=around.elr_supported,
        unclean=topic in around.unclean,
        lost=tuple(place[b] for b, each in zip(p.replicas, stored.shape.directories, strict=True) if each == LOST),
    )
    for finding in _near_findings(question):
        yield finding.rule, finding.words.format(*(_named(brokers, numbers) for brokers in finding.brokers))


def _is_calm(p: KafkaPartition) -> bool:
    return p.leader != NO_LEADER and not (p.elr or p.adding or p.removing)


def _named(brokers: int | tuple[int, ...], numbers: BrokerNumbers) -> str:
    if isinstance(brokers, int):
        return str(numbers.ids[brokers])
    return str([numbers.ids[b] for b in brokers])


@lru_cache(maxsize=1 << 16)
def _near_findings(question: StepQuestion) -> tuple[NearFinding, ...]:
    """Return the findings that begin in some variant of the release; for each rule the first message."""
    try:
        partition = partition_of(question.partition)
    except NotRepresentable:
        return ()
    if not partition.replicas:
        return ()
    registration = tuple(broker.registration for broker in question.brokers)
    now = Controller(settings=question.settings, partition=partition, registration=registration)
    findings: dict[str, NearFinding] = {}
    for config in variants_of(question.level):
        c = configured(config, len(question.brokers), question.unclean, question.zero)
        for finding in _steps(c, now, question):
            findings.setdefault(finding.rule, finding)
    return tuple(findings.values())


def _steps(c: Config, now: Controller, question: StepQuestion) -> Iterator[NearFinding]:
    p = now.partition
    if question.settings.elr_enabled:
        yield from _reassignment(c, now)
        yield from _elr_in_use(c, now)
        candidates = p.isr | p.elr | p.last_known_elr
        lost = tuple(b for b in question.lost if b in candidates)
        if lost and c.lost_directory == LostDirectory.IGNORED:
            words = "the log directory of {} is offline; ISR {}, ELR {}"
            yield NearFinding("directory-offline", words, (lost, _in_order(p.isr), _in_order(p.elr)))
    elif question.elr_supported and p.leader is None and p.isr:
        words = "no leader, ISR {}: switching ELR on leaves it like that"
        yield NearFinding("upgrade-keeps-leaderless", words, (_in_order(p.isr),))
    if question.unclean:
        yield from _unclean(c, now)


def _elr_in_use(c: Config, now: Controller) -> Iterator[NearFinding]:
    p = now.partition
    elr = _in_order(p.elr)
    if p.elr and p.elr <= frozenset(p.replicas):
        rewrite = events.MinIsrEvent(events.MinIsrLevel.CLUSTER, 0, now.settings.cluster_min_isr)
        if not partition_after(c, now, rewrite).elr:
            words = "ELR {} is cleared if the cluster's min.insync.replicas is written"
            yield NearFinding("rewrite-clears-elr", words, (elr,))
        if not partition_after(c, now, events.DirectoriesEvent(moved=True)).elr:
            yield NearFinding("directories-clear-elr", "ELR {} is cleared if a broker reports a log directory", (elr,))
        for b in elr:
            if now.registration[b].registered and b in partition_after(c, now, events.UnregisterEvent(b)).elr:
                words = "ELR {}: broker {} stays in it if it is unregistered"
                yield NearFinding("unregistration-keeps-elr", words, (elr, b))
    if partition_after(c, now, events.FeatureEvent(enabled=False)).elr:
        yield NearFinding("downgrade-keeps-elr", "ELR {} stays stored if the feature is switched off", (elr,))
    if p.leader is None and not p.isr:
        words = "no leader, ISR [], ELR {}: without ELR there is no candidate"
        yield NearFinding("downgrade-without-candidate", words, (elr,))


def _reassignment(c: Config, now: Controller) -> Iterator[NearFinding]:
    p = now.partition
    if not is_reassigning(p):
        return
    words = "a reassignment adds {} and removes {} with ELR on"
    yield NearFinding("reassignment-with-elr", words, (_in_order(p.adding), _in_order(p.removing)))
    left = _left_in_elr(partition_after(c, now, events.CancelReassignmentEvent()))
    if left:
        remaining = tuple(b for b in p.replicas if b not in p.adding)
        yield NearFinding(
            "cancel-leaves-elr", "if it is cancelled, {} stay in the ELR of replicas {}", (left, remaining)
        )
    if p.leader is not None:
        left = _left_in_elr(altered_by_leader(c, now, p.leader, p.isr | p.adding, p.recovery))
        if left:
            remaining = tuple(b for b in p.replicas if b not in p.removing)
            words = "when it completes, {} stay in the ELR of replicas {}"
            yield NearFinding("completion-leaves-elr", words, (left, remaining))


def _left_in_elr(after: Partition) -> tuple[int, ...]:
    return _in_order(after.elr - frozenset(after.replicas))


def _unclean(c: Config, now: Controller) -> Iterator[NearFinding]:
    p = now.partition
    if p.leader is None:
        return
    after = partition_after(c, now, events.FenceEvent(p.leader))
    if after.leader is not None and after.leader not in p.isr | p.elr:
        words = "ISR {}: if leader {} stops, {} leads, which is not in it"
        yield NearFinding("unclean-successor", words, (_in_order(p.isr), p.leader, after.leader))


def _in_order(members: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(members))
