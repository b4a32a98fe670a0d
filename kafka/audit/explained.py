"""Finds the event of the controller that wrote a record: the model decides every event that could have.

`decide` takes the state of the controller and returns the partition after the event. A record is explained if some
event, in some release that may have written it, results in exactly the partition after the record: members, leader,
replicas being added and removed, recovery state, and both epochs. This file has no rule of the protocol, only the
questions.

Brokers are numbered from 0 in ascending order, because a reassignment lists removed ones in that order; epochs are
relative to the record. So the same few questions recur, and their answers are cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

from elrcheck.kafka.audit.rules import Knobs, variants_of, with_repairs
from elrcheck.kafka.conformance.known_classes import text_of
from elrcheck.kafka.conformance.model_side import NotRepresentable, configured, partition_of
from elrcheck.kafka.log.cluster_state import KnownBroker, StoredPartition
from elrcheck.kafka.log.partition_shapes import renamed
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.controller_event import ControlState, ElectionType, Event, MinIsrLevel
from elrcheck.model.control_plane.creation import without_partition
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.reassignment import is_reassigning
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Recovery, Settings


@dataclass(frozen=True, slots=True)
class RecordQuestion:
    """The effect of a record, with numbers for brokers. before: None for a new partition.

    brokers: as they are when the record is written. start: as they were before its batch, and partition: the
    partition then, from which all records of one event are built. zero: how many replicas the topic's
    partition 0 has. settings, changed: before and after the batch. repaired: knobs that the build repairs.
    """

    before: KafkaPartition | None
    after: KafkaPartition
    brokers: tuple[KnownBroker, ...]
    start: tuple[KnownBroker, ...]
    partition: KafkaPartition | None
    settings: Settings
    changed: Settings
    zero: int
    level: int
    repaired: Knobs = ()


class Explanation(NamedTuple):
    """The event that explains a record.

    event: in words; None if no event explains it. nearest: the event whose result is closest to the record. differs:
    the fields that differ from it, as (name, value in the record, value by the rule).
    """

    event: str | None
    nearest: str = ""
    differs: tuple[tuple[str, object, object], ...] = ()


@lru_cache(maxsize=1 << 16)
def explain(question: RecordQuestion) -> Explanation | None:
    """Return the explanation of the record; None if it holds a value that the model cannot represent."""
    try:
        after = partition_of(question.after)
        befores = [] if question.before is None else [partition_of(question.before)]
        if question.partition is not None and question.before is not None:
            befores.append(_at_epochs(partition_of(question.partition), befores[0]))
    except NotRepresentable:
        return None
    if not all(p.replicas for p in (*befores, after)):
        return None  # the rules ask for the first replica
    nearest: tuple[int, str, Partition] | None = None
    for config in _configs(question, befores, after):
        for name, result in _events(config, question, befores, after):
            if result == after:
                return Explanation(name)
            distance = sum(getattr(result, f.name) != getattr(after, f.name) for f in fields(Partition))
            if nearest is None or distance < nearest[0]:
                nearest = (distance, name, result)
    if nearest is None:
        return Explanation(None)
    _, name, result = nearest
    differs = tuple(
        (f.name, getattr(after, f.name), getattr(result, f.name))
        for f in fields(Partition)
        if getattr(after, f.name) != getattr(result, f.name)
    )
    return Explanation(None, name, differs)


def _at_epochs(earlier: Partition, now: Partition) -> Partition:
    return replace(earlier, leader_epoch=now.leader_epoch, partition_epoch=now.partition_epoch)


# ---------------------------------------------------------------------------- releases


def _configs(question: RecordQuestion, befores: list[Partition], after: Partition) -> Iterator[Config]:
    """Yield the configurations that may have written it: the variants of the brokers' line of releases, without
    and with unclean elections.

    unclean.leader.election.enable may be set in a file of the controllers, which the log does not show. It
    matters only where the leader changes, or a reassignment is cancelled; the fix of F-20 only where a member
    is not a replica any more. A cluster may run that fix before a release has it.
    """
    elects = any(p.leader != after.leader or is_reassigning(p) for p in befores)
    leaves = any(not p.isr | p.elr <= frozenset(after.replicas) for p in befores)
    released = with_repairs(variants_of(question.level), question.repaired)
    fixed = [replace(config, elr_intersect_replicas=True) for config in released] if leaves else []
    for config in (*released, *fixed):
        for unclean in (False, True) if elects else (False,):
            yield configured(config, len(question.brokers), unclean, question.zero)


# ---------------------------------------------------------------------------- events


def _events(
    c: Config, question: RecordQuestion, befores: list[Partition], after: Partition
) -> Iterator[tuple[str, Partition]]:
    """Yield every event that may have written the record, with the partition that results."""
    for brokers in dict.fromkeys((question.brokers, question.start)):
        registration = tuple(broker.registration for broker in brokers)
        if not befores:
            nothing = without_partition(question.settings, registration)
            yield "the topic is created", partition_after(c, nothing, events.CreatePartitionEvent(after.replicas))
        for settings in dict.fromkeys((question.settings, question.changed)):
            for before in dict.fromkeys(befores):
                now = Controller(settings=settings, partition=before, registration=registration)
                yield from _of_partition(c, now, after)
                yield from _of_brokers(c, now)
                yield from _of_operators(c, now, after)
    for before in dict.fromkeys(befores):
        registration = tuple(broker.registration for broker in question.brokers)
        old, new = question.settings, question.changed
        for level, value, earlier in (
            (MinIsrLevel.CLUSTER, new.cluster_min_isr, replace(new, cluster_min_isr=old.cluster_min_isr)),
            (MinIsrLevel.TOPIC, new.topic_min_isr, replace(new, topic_min_isr=old.topic_min_isr)),
        ):
            now = Controller(settings=earlier, partition=before, registration=registration)
            written = partition_after(c, now, events.MinIsrEvent(level, 0, value))
            yield f"min.insync.replicas of the {level.value} is written", written


def partition_after(c: Config, now: Controller, event: Event) -> Partition:
    """Return the partition after an event."""
    return decide(c, now, event).controller.partition


def altered_by_leader(c: Config, now: Controller, leader: int, isr: frozenset[int], recovery: Recovery) -> Partition:
    """Return the partition after an AlterPartition of its leader with the present epochs."""
    p, epoch, unknown = now.partition, now.registration[leader].epoch, (0,) * len(now.registration)
    request = events.AlterPartitionEvent(leader, epoch, p.leader_epoch, p.partition_epoch, isr, unknown, recovery)
    return partition_after(c, now, request)


def _of_partition(c: Config, now: Controller, after: Partition) -> Iterator[tuple[str, Partition]]:
    p = now.partition
    if p.leader is not None:
        for isr in dict.fromkeys((after.isr, after.isr | (p.isr & p.removing), after.isr | p.removing)):
            for recovery in dict.fromkeys((after.recovery, p.recovery)):
                yield f"AlterPartition of leader {{{p.leader}}}", altered_by_leader(c, now, p.leader, isr, recovery)
    yield "a preferred election", partition_after(c, now, events.BalanceEvent())
    yield "an unclean election", partition_after(c, now, events.ElectLeadersEvent(ElectionType.UNCLEAN, None))
    yield "the periodic unclean election", partition_after(c, now, events.PeriodicElectionEvent())
    yield "an assignment of log directories", partition_after(c, now, events.DirectoriesEvent(moved=True))
    yield "a report of log directories", partition_after(c, now, events.DirectoriesEvent(moved=False))


def _of_brokers(c: Config, now: Controller) -> Iterator[tuple[str, Partition]]:
    for b in range(len(now.registration)):
        who = f"broker {{{b}}}"
        epoch = now.registration[b].epoch
        yield f"{who} is fenced or shuts down", partition_after(c, now, events.FenceEvent(b))
        yield f"{who} is unfenced", partition_after(c, now, events.UnfenceEvent(b))
        yield f"{who} registers after a clean shutdown", partition_after(c, now, events.RegisterEvent(b, epoch, True))
        yield f"{who} registers after an unclean shutdown", partition_after(c, now, events.RegisterEvent(b, 0, True))
        yield f"{who} is unregistered", partition_after(c, now, events.UnregisterEvent(b))
        fails = events.DirectoryFailedEvent(b, ControlState.UNCHANGED)
        yield f"a log directory of {who} fails", partition_after(c, now, fails)
        yield f"{who} reports a new log directory", partition_after(c, now, events.DirectoryMovedEvent(b))


def _of_operators(c: Config, now: Controller, after: Partition) -> Iterator[tuple[str, Partition]]:
    rest = tuple(b for b in after.replicas if b not in after.removing)
    for target in dict.fromkeys((rest, after.replicas)):
        listed = ", ".join(f"{{{b}}}" for b in target)
        yield f"a reassignment to [{listed}]", partition_after(c, now, events.ReassignEvent(target))
    if is_reassigning(now.partition):
        yield "the reassignment is cancelled", partition_after(c, now, events.CancelReassignmentEvent())


# ---------------------------------------------------------------------------- numbers and ids


class BrokerNumbers:
    """The brokers of a question, numbered in ascending order."""

    def __init__(self, named: Iterable[int]) -> None:
        self.ids = sorted(set(named) - {NO_LEADER})
        self._number = {broker: number for number, broker in enumerate(self.ids)} | {NO_LEADER: NO_LEADER}

    def of(self, stored: StoredPartition, base: StoredPartition) -> KafkaPartition:
        """Return the partition with numbers for brokers, and epochs relative to those of `base`."""
        return replace(
            renamed(stored.shape.lists, self._number, in_order=True),
            leader_epoch=stored.leader_epoch - base.leader_epoch,
            partition_epoch=stored.partition_epoch - base.partition_epoch,
        )

    def text(self, words: str) -> str:
        """Return words with the id of the first broker for `{0}`, and so on; after the last comes another broker."""
        return words.format(*self.ids, "another")

    def value(self, name: str, value: object, base: StoredPartition) -> str:
        """Return the value of a field of the partition in words, with the brokers' ids and the real epochs."""
        if name in ("leader_epoch", "partition_epoch"):
            assert isinstance(value, int)
            return str(value + getattr(base, name))
        if name == "leader" and isinstance(value, int):
            return str(self.ids[value])
        if isinstance(value, frozenset):
            return text_of(frozenset(self.ids[number] for number in value))
        if isinstance(value, tuple):
            return text_of(tuple(self.ids[number] for number in value))
        return text_of(value)


def unexplained(explanation: Explanation, numbers: BrokerNumbers, base: StoredPartition) -> str:
    """Return the message of the flag."""
    if not explanation.nearest:
        return "no event of the controller writes this record"
    differs = "; ".join(
        f"{WORDS.get(name, name)} {numbers.value(name, mine, base)}, not {numbers.value(name, theirs, base)}"
        for name, mine, theirs in explanation.differs
    )
    return f"no event of the controller writes this record; nearest: {numbers.text(explanation.nearest)}: {differs}"


WORDS: Mapping[str, str] = {
    "isr": "ISR",
    "elr": "ELR",
    "last_known_elr": "LastKnownELR",
    "leader_epoch": "leader epoch",
    "partition_epoch": "partition epoch",
    "adding": "adding replicas",
    "removing": "removing replicas",
    "recovery": "recovery state",
}
