"""Each record of a partition put to the model: what the controller knew, and what came of it.

A batch may hold the records of several events, and the records about brokers stand before or behind those of
partitions. So what was known is kept as it is before the record and as it was before the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from elrcheck.commands.audit.explained import Numbers, Question, explain, unexplained
from elrcheck.commands.audit.findings import Explained
from elrcheck.commands.audit.hazard_signs import Sign
from elrcheck.commands.audit.judged import settings_of
from elrcheck.commands.audit.known_broker import KnownBroker, known_brokers
from elrcheck.kafka.asked import KafkaPartition
from elrcheck.kafka.log.cluster_state import (
    TOPIC,
    ClusterState,
    Key,
    PartitionChanged,
    StoredBroker,
    StoredPartition,
)
from elrcheck.kafka.log.history import Applied

BROKERS = frozenset({
    "REGISTER_BROKER_RECORD", "UNREGISTER_BROKER_RECORD", "FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD",
    "BROKER_REGISTRATION_CHANGE_RECORD"})  # fmt: skip
MOST_KNOWN = 1 << 16
"""Explained changes that are remembered."""
STRANGER = KnownBroker(registered=True, fenced=False)
"""A broker that no list of the partition names, such as one that is unfenced elsewhere."""


@dataclass
class RecordCheck:
    """Asks about the records of one log, in order; `settled` after each batch."""

    counted: Explained = field(default_factory=Explained)
    _brokers: dict[int, StoredBroker] = field(default_factory=dict)
    """As they were before this batch."""
    _min_isr: dict[tuple[int, str], str] = field(default_factory=dict)
    _elr: bool = False
    _level: int = 0
    """The highest metadata.version that a broker supports."""
    _changed: dict[Key, StoredPartition] = field(default_factory=dict)
    """Partitions that this batch has changed, as they were before."""
    _news: bool = False
    _known: set[tuple[object, ...]] = field(default_factory=set)
    """Changes that were explained since brokers and settings changed last."""

    def settled(self, state: ClusterState) -> None:
        """The batch has ended, or a snapshot."""
        self._changed.clear()
        if self._news:
            self._news = False
            self._known.clear()
            self._brokers = dict(state.brokers)
            self._min_isr = dict(state.min_isr)
            self._elr = state.elr_enabled
            self._level = max((broker.level for broker in state.brokers.values()), default=0)

    def seen(self, applied: Applied, state: ClusterState, in_snapshot: bool) -> Iterator[tuple[Key, Sign]]:
        """What no event explains of this record, which has been applied."""
        name = applied.record.name
        if name in BROKERS or name in ("CONFIG_RECORD", "FEATURE_LEVEL_RECORD"):
            self._news = True
            self._known.clear()
        if in_snapshot:
            return
        for changed in applied.changed:
            if changed.after is not None:
                yield from self._asked(changed, state)
                if changed.before is not None:
                    self._changed.setdefault(changed.key, changed.before)

    def _asked(self, changed: PartitionChanged, state: ClusterState) -> Iterator[tuple[Key, Sign]]:
        assert changed.after is not None
        before, after = changed.before, changed.after
        now = self._key(changed, state)
        if now in self._known:
            self.counted.explained += 1
            return
        base = KafkaPartition((), ()) if before is None else before.registration
        first = self._changed.get(changed.key)
        stored = [each for each in (before, after, first) if each is not None]
        numbers = Numbers(b for each in stored for b in _named(each.registration))
        known = before or after
        level = self._level or max((broker.level for broker in state.brokers.values()), default=0)
        brokers = max(len(numbers.ids) + 1, 1)
        topic = state.name_of(changed.key)
        question = Question(
            before=None if before is None else numbers.of(base, base),
            after=numbers.of(after.registration, base),
            brokers=(*known_brokers(numbers.ids, state.brokers, known), STRANGER),
            start=(*known_brokers(numbers.ids, self._brokers, known), STRANGER),
            partition=None if first is None else numbers.of(first.registration, base),
            settings=settings_of(self._min_isr, topic, self._elr, brokers),
            changed=settings_of(state.min_isr, topic, state.elr_enabled, brokers),
            zero=_zero(state, changed.key),
            level=level,
        )
        answer = explain(question)
        if answer is None:
            self.counted.not_asked += 1
        elif answer.event is not None:
            self.counted.explained += 1
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(now)
        else:
            self.counted.unexplained += 1
            yield changed.key, ("unexplained-record", unexplained(answer, numbers, base))

    def _key(self, changed: PartitionChanged, state: ClusterState) -> tuple[object, ...]:
        """All that an answer depends on while brokers and the cluster's settings stay as they are."""
        assert changed.after is not None
        after, directories = changed.after
        p = KafkaPartition((), ()) if changed.before is None else changed.before.registration
        first = self._changed.get(changed.key)
        return (
            after.leader_epoch - p.leader_epoch,
            after.partition_epoch - p.partition_epoch,
            *_content(p),
            *_content(after),
            directories if changed.before is None else changed.before.directories,
            None if first is None else _content(first.registration),
            None if changed.key.partition == 0 else _zero(state, changed.key),
            state.min_isr.get((TOPIC, state.name_of(changed.key))),
        )


def _content(p: KafkaPartition) -> tuple[object, ...]:
    """Everything but the epochs."""
    return (p.replicas, p.isr, p.elr, p.last_known_elr, p.adding, p.removing, p.leader, p.recovery)


def _named(p: KafkaPartition) -> Iterator[int]:
    for ids in (p.replicas, p.isr, p.elr, p.last_known_elr, (p.leader,), p.adding, p.removing):
        yield from ids


def _zero(state: ClusterState, key: Key) -> int:
    """The replicas of the topic's partition 0, before or after the record."""
    zero = state.partitions.get(Key(key.topic_id, 0))
    return 0 if zero is None or key.partition == 0 else len(zero.registration.replicas)
