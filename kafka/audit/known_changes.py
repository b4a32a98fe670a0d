"""Fast path: applies a partition record unjudged if an identical change was judged harmless before.

Nearly every record of a log moves a partition from one sound state to another, in a way that some event of the
controller explains. The verdict on such a record depends only on a question without broker ids: the pattern of the
partition (`partition_shapes.py`), the record's content with places instead of brokers, the state of these brokers
now and before the batch, and the settings of the topic and the cluster. So each question is answered once, and the
next record with the same question is only applied.

Epochs are not part of a question: an explanation uses their differences, and properties do not use them. The order
of ids is part of it: places ascend with ids, like the numbers by which a record is explained (`explained.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from elrcheck.kafka.audit.findings import FlagList
from elrcheck.kafka.audit.hazard_signs import EventSigns, state_signs
from elrcheck.kafka.audit.record_check import RecordCheck
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.cluster_state import (
    BROKER,
    EVERY_BROKER,
    NO_CHANGE,
    TOPIC,
    ClusterState,
    PartitionKey,
    StoredPartition,
    known_broker,
)
from elrcheck.kafka.log.entries import RecordRun
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.metadata_records import (
    CHANGES,
    CREATIONS,
    REST,
    START,
    Fields,
    MetadataRecord,
    change_in,
    read_record,
    topic_and_number,
)
from elrcheck.kafka.log.partition_shapes import Home, Pattern, Shape

MOST_REMEMBERED = 1 << 17
"""Entries of each table that may grow with the log."""
UNREAD = -1
LISTS = ("replicas", "isr", "eligibleLeaderReplicas", "lastKnownElr", "addingReplicas", "removingReplicas")

ChangeQuestion: TypeAlias = tuple[object, ...]
"""The pattern of a partition, what a record does to it, and the numbers of what is known of its brokers and of its
topic. Without a record, the question is whether the partition is sound."""


class OpenQuestion(NamedTuple):
    """A record that was not applied, because its question has no answer yet."""

    offset: int
    question: ChangeQuestion


class KnownChanges:
    """Remembers the harmless changes in one log.

    check, signs and flags follow the same log. The records of a partition with an open flag, or with members of
    the ELR that were no replicas for a while, are never applied here.
    """

    def __init__(self, check: RecordCheck, signs: EventSigns, flags: FlagList) -> None:
        self._check = check
        self._signs = signs
        self._flags = flags
        self._applied: dict[PartitionKey, tuple[RecordRun, int]] = {}
        """The partitions of this batch whose records were applied here, with the place of the last one."""
        self._candidate: OpenQuestion | None = None
        self._results: dict[ChangeQuestion, tuple[Pattern, int]] = {}
        """The result of a harmless change: the pattern, and the difference of the leader epochs."""
        self._creations: set[ChangeQuestion] = set()
        self._sound: dict[ChangeQuestion, bool] = {}
        self._numbers: dict[object, int] = {}
        """Of facts and of changes: equal ones have the same number."""
        # Recomputed if missing:
        self._keys: dict[bytes, PartitionKey] = {}
        self._changes: dict[tuple[Home, bytes, bytes], int | None] = {}
        self._created: dict[bytes, StoredPartition] = {}
        # Of the brokers and settings as they are, and were before the batch:
        self._state: ClusterState | None = None
        self._times = -1
        self._world: tuple[object, ...] = ()
        self._min_isr: tuple[Mapping[tuple[int, str], str], ...] = ()
        self._brokers: dict[tuple[int, str], int] = {}
        self._homes: dict[Home, int] = {}
        self._topics: dict[str, int] = {}

    # ------------------------------------------------------------------------ records

    def apply(self, state: ClusterState, run: RecordRun, first: int) -> int:
        """Apply the records from that number on as long as each is known to be harmless; return how many."""
        self._candidate = None
        self._renew(state)
        flagged, ghosts = self._flags.open, self._signs.ghost_members
        values, number = run.values, first
        while number < len(values):
            value = values[number]
            name = value[START:REST]
            key = self._keys.get(name) or self._key(name)
            start = value[:START]
            if key is None or key in flagged or key in ghosts:
                break
            if start in CHANGES:
                harmless = self._change(state, key, value, run.offsets[number])
            elif start in CREATIONS:
                harmless = self._create(state, key, value, run.offsets[number])
            else:
                break
            if not harmless:
                break
            self._applied[key] = run, number
            number += 1
        self._check.counted.explained += number - first
        return number - first

    def _change(self, state: ClusterState, key: PartitionKey, value: bytes, offset: int) -> bool:
        before, first = state.partitions.get(key), self._check.first
        if before is None or key in first:
            return False
        pattern, home = before.shape.pattern, before.shape.home
        parts = (home, value[:START], value[REST:])
        change = self._changes.get(parts, UNREAD)
        if change == UNREAD:
            change = self._number_of_change(value, parts)
        if change is None:
            return False
        facts = self._homes.get(home) or self._facts_of(home)
        topic = self._topics.get(key.topic_id) or self._topic_of(key)
        question = (pattern, change, facts, topic, key.partition == 0)
        result = self._results.get(question)
        if result is None:
            self._candidate = OpenQuestion(offset, question)
            return False
        first[key] = before
        after, elected = result
        epochs = before.leader_epoch + elected, before.partition_epoch + 1
        state.partitions[key] = StoredPartition(Shape(after, home), *epochs)
        return True

    def _create(self, state: ClusterState, key: PartitionKey, value: bytes, offset: int) -> bool:
        if key.partition < 0 or key in state.partitions:
            return False
        rest = value[:START] + value[REST:]
        created = self._created.get(rest)
        if created is None:
            try:
                record = read_record(value)
            except Malformed:
                return False
            assert isinstance(record, MetadataRecord)
            _make_room(self._created)
            created = self._created[rest] = state.created(record.fields)
        shape, *epochs = created
        question = (shape.pattern, *epochs, self._facts_of(shape.home), self._topic_of(key), key.partition == 0)
        if question not in self._creations:
            self._candidate = OpenQuestion(offset, question)
            return False
        state.put(key, created)
        if key.partition == 0:
            self.forget_topic(key.topic_id)
        return True

    def learn(self, state: ClusterState, applied: Applied) -> None:
        """Remember that this record, which was explained and not flagged, is harmless."""
        candidate, self._candidate = self._candidate, None
        if candidate is None or candidate.offset != applied.offset or len(applied.changed) != 1:
            return
        ((key, before, after),) = applied.changed
        if after is None or not self.is_sound(state, key):
            return
        if before is None:
            self._creations.add(candidate.question)
        elif before.shape.home is after.shape.home and _keeps_size(before, after):
            self._results[candidate.question] = after.shape.pattern, after.leader_epoch - before.leader_epoch

    def hand_over(self) -> Mapping[PartitionKey, tuple[RecordRun, int]]:
        """Return the partitions whose records were applied since the batch began or this was last called."""
        applied, self._applied = self._applied, {}
        return applied

    def end_batch(self) -> None:
        """Begin a new batch, and forget everything if the tables have become too large."""
        self._applied.clear()
        if max(map(len, (self._results, self._creations, self._sound, self._numbers))) > MOST_REMEMBERED:
            self._forget()

    # ------------------------------------------------------------------------ soundness

    def is_sound(self, state: ClusterState, key: PartitionKey) -> bool:
        """Return whether the partition exists and breaks no rule."""
        self._renew(state)
        stored = state.partitions.get(key)
        if stored is None or key in self._signs.ghost_members:
            return False
        question = (stored.shape.pattern, self._facts_of(stored.shape.home), self._topic_of(key))
        sound = self._sound.get(question)
        if sound is None:
            signs = state_signs(state, key, frozenset(), self._check.knobs)
            sound = self._sound[question] = next(signs, None) is None
        return sound

    def unsound(self, state: ClusterState, broker: int) -> Iterator[PartitionKey]:
        """Yield the partitions that have this broker as a member and are flagged or break a rule."""
        self._renew(state)
        flagged, ghosts = self._flags.open, self._signs.ghost_members
        partitions, topics, judgements = state.partitions, self._topics, self._sound
        for home in state.shapes.homes_of(broker):
            facts = self._facts_of(home)
            place = home.place[broker]
            for key in home.keys:
                pattern = partitions[key].shape.pattern
                if place not in pattern.members:
                    continue
                question = (pattern, facts, topics.get(key.topic_id))
                sound = (key not in ghosts and judgements.get(question)) or self.is_sound(state, key)
                if key in flagged or not sound:
                    yield key

    # ------------------------------------------------------------------------ facts

    def _renew(self, state: ClusterState) -> None:
        """Forget the facts if brokers or settings have changed, and all if a snapshot has replaced the state."""
        check = self._check
        if state is self._state and check.times == self._times:
            return
        if state is not self._state:
            self._state = state
            self._applied.clear()
            self._forget()
        self._times = check.times
        cluster = (BROKER, EVERY_BROKER)
        settings = (state.min_isr.get(cluster), check.before.min_isr.get(cluster))
        self._world = (state.elr_enabled, state.elr_is_off, check.before.elr, *settings, check.level_in(state))
        self._brokers.clear()
        self._homes.clear()
        if (state.min_isr, check.before.min_isr) != self._min_isr:
            self._min_isr = dict(state.min_isr), dict(check.before.min_isr)
            self._topics.clear()

    def _forget(self) -> None:
        tables = (self._results, self._creations, self._sound, self._numbers, self._changes, self._created)
        for table in (*tables, self._brokers, self._homes, self._topics):
            table.clear()

    def forget_topic(self, topic_id: str) -> None:
        """Forget a topic whose name or partition 0 may have changed."""
        self._topics.pop(topic_id, None)

    def _facts_of(self, home: Home) -> int:
        """Return the number of the facts about these brokers and the cluster."""
        facts = self._homes.get(home)
        if facts is None:
            brokers = [self._brokers.get(pair) or self._broker(*pair) for pair in home.pairs]
            facts = self._homes[home] = self._number((*brokers, self._world))
        return facts

    def _broker(self, broker: int, directory: str) -> int:
        assert self._state is not None
        now, earlier = self._state.brokers.get(broker), self._check.before.brokers.get(broker)
        facts = self._number((known_broker(now, directory), known_broker(earlier, directory)))
        self._brokers[broker, directory] = facts
        return facts

    def _topic_of(self, key: PartitionKey) -> int:
        """Return the number of the facts about the topic."""
        facts = self._topics.get(key.topic_id)
        if facts is None:
            assert self._state is not None
            zero = self._state.partitions.get(PartitionKey(key.topic_id, 0))
            own = (TOPIC, self._state.name_of(key))
            settings = (self._state.min_isr.get(own), self._check.before.min_isr.get(own))
            replicas = -1 if zero is None else len(zero.shape.lists.replicas)
            facts = self._topics[key.topic_id] = self._number((replicas, settings))
        return facts

    # ------------------------------------------------------------------------ names and changes

    def _key(self, name: bytes) -> PartitionKey | None:
        if len(name) < REST - START:
            return None
        _make_room(self._keys)
        key = self._keys[name] = PartitionKey(*topic_and_number(name, 0))
        return key

    def _number_of_change(self, value: bytes, parts: tuple[Home, bytes, bytes]) -> int | None:
        try:
            change = _by_place(change_in(value), parts[0])
        except Malformed:
            change = None
        _make_room(self._changes)
        number = self._changes[parts] = None if change is None else self._number(change)
        return number

    def _number(self, thing: object) -> int:
        return self._numbers.setdefault(thing, len(self._numbers) + 1)


def _by_place(fields: Fields, home: Home) -> tuple[object, ...] | None:
    """Return a change with places instead of brokers; None if it names other brokers or directories."""
    if fields["directories"] is not None:
        return None
    place: Mapping[int, int] = home.place

    def places(ids: Iterable[int] | None) -> tuple[int, ...] | None:
        return None if ids is None else tuple([place[broker] for broker in ids])

    try:
        lists = [places(fields[name]) for name in LISTS]
        leader = NO_CHANGE if fields["leader"] == NO_CHANGE else place[fields["leader"]]
    except KeyError:
        return None
    return (*lists, leader, fields["leaderRecoveryState"])


def _keeps_size(before: StoredPartition, after: StoredPartition) -> bool:
    """Return whether the number of replicas, on which other partitions of the topic depend, is unchanged."""
    return len(before.shape.lists.replicas) == len(after.shape.lists.replicas)


def _make_room(table: dict[Any, Any]) -> None:
    if len(table) >= MOST_REMEMBERED:
        table.clear()
