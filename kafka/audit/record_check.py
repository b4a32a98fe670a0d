"""Turns each partition record into a question to the model: the controller's state, and the record it wrote.

A batch may hold the records of several events, and records about brokers may come before or after those of
partitions. So a question has brokers and settings as they are before the record, and as they were before the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from elrcheck.kafka.audit.explained import BrokerNumbers, RecordQuestion, explain, unexplained
from elrcheck.kafka.audit.findings import RecordShares
from elrcheck.kafka.audit.hazard_signs import BatchStart, Sign
from elrcheck.kafka.audit.judged import settings_of
from elrcheck.kafka.audit.rules import Knobs
from elrcheck.kafka.log.cluster_state import (
    ClusterState,
    KnownBroker,
    PartitionChanged,
    PartitionKey,
    StoredPartition,
    known_brokers,
)
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.partition_shapes import Shapes
from elrcheck.kafka.log.record_table import ABOUT_BROKERS, ABOUT_SETTINGS
from elrcheck.kafka.partition_questions import KafkaPartition

NEWS = ABOUT_BROKERS | ABOUT_SETTINGS | {"REMOVE_TOPIC_RECORD"}
NOTHING = StoredPartition(Shapes().shape_of(KafkaPartition((), ()), ()), 0, 0)
STRANGER = KnownBroker(registered=True, fenced=False)
"""A broker that no list of the partition names: an event may concern another broker."""


@dataclass
class RecordCheck:
    """Asks about the records of one log, in order; `settled` must be called after each batch."""

    knobs: Knobs = ()
    """Of the model, which the build of the cluster repairs."""
    counted: RecordShares = field(default_factory=RecordShares)
    before: BatchStart = field(default_factory=BatchStart)
    level: int = 0
    """The highest metadata.version that a broker supports."""
    first: dict[PartitionKey, StoredPartition] = field(default_factory=dict)
    """Partitions that this batch has changed, as they were before."""
    news: bool = False
    """Whether this batch has changed brokers or settings."""
    times: int = 0
    """The number of changes of brokers or settings, of the present ones or those before the batch."""
    _state: ClusterState | None = None

    def settled(self, state: ClusterState) -> None:
        """Begin a new batch: the last one has ended, or a snapshot."""
        self.first.clear()
        if self.news or state is not self._state:
            self.news = False
            self.times += 1
            self._state = state
            self.before.brokers, self.before.min_isr = dict(state.brokers), dict(state.min_isr)
            self.before.elr = state.elr_enabled
            self.level = 0
            self.level = self.level_in(state)

    def level_in(self, state: ClusterState) -> int:
        """Return the highest metadata.version that a broker supports: before the batch, or else now."""
        return self.level or max((broker.level for broker in state.brokers.values()), default=0)

    def signs_of(self, applied: Applied, state: ClusterState, in_snapshot: bool) -> Iterator[tuple[PartitionKey, Sign]]:
        """Yield a sign for each change by this record, which has been applied, that no event explains."""
        if applied.record.name in NEWS:
            self.news = True
            self.times += 1
        if in_snapshot:
            return
        for changed in applied.changed:
            if changed.after is not None:
                yield from self._sign_of(changed, state)
                if changed.before is not None:
                    self.first.setdefault(changed.key, changed.before)

    def _sign_of(self, changed: PartitionChanged, state: ClusterState) -> Iterator[tuple[PartitionKey, Sign]]:
        assert changed.after is not None
        before, after = changed.before, changed.after
        base = NOTHING if before is None else before
        first = self.first.get(changed.key)
        numbers = BrokerNumbers(b for each in (before, after, first) if each is not None for b in each.shape.brokers)
        stored = before or after
        count = len(numbers.ids) + 1
        topic = state.name_of(changed.key)
        now = start = (*known_brokers(numbers.ids, state.brokers, stored), STRANGER)
        settings = before_it = settings_of(state.min_isr, topic, state.elr_enabled, count)
        if self.news or state is not self._state:
            start = (*known_brokers(numbers.ids, self.before.brokers, stored), STRANGER)
            before_it = settings_of(self.before.min_isr, topic, self.before.elr, count)
        question = RecordQuestion(
            before=None if before is None else numbers.of(before, base),
            after=numbers.of(after, base),
            brokers=now,
            start=start,
            partition=None if first is None else numbers.of(first, base),
            settings=before_it,
            changed=settings,
            zero=replicas_of_zero(state, changed.key),
            level=self.level_in(state),
            repaired=self.knobs,
        )
        answer = explain(question)
        if answer is None:
            self.counted.not_asked += 1
        elif answer.event is not None:
            self.counted.explained += 1
        else:
            self.counted.unexplained += 1
            yield changed.key, ("unexplained-record", unexplained(answer, numbers, base))


def replicas_of_zero(state: ClusterState, key: PartitionKey) -> int:
    """Return how many replicas the topic's partition 0 has; 0 for partition 0 itself, and without one."""
    zero = state.partitions.get(PartitionKey(key.topic_id, 0))
    return 0 if zero is None or key.partition == 0 else len(zero.shape.lists.replicas)
