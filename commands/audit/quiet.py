"""Changes of partitions of which nothing comes, recognised by the first of their kind.

Most records of a log move a partition from one sound state to another. What the audit has to say of such a
record depends on what is registered of the partition, on the brokers that this names, on the settings of its
topic and of the cluster, and on how many replicas the topic's partition 0 has; on nothing else of the
partition. So what was found out once - the record is explained, and no rule is broken before or after it -
holds for the next partition of which all this is the same. Its record only has to change the state, and is
not even decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from elrcheck.commands.audit.hazard_signs import state_signs
from elrcheck.commands.audit.judged import Judge
from elrcheck.commands.audit.known_broker import known_broker
from elrcheck.commands.audit.record_check import RecordCheck
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.cluster_state import (
    BROKER,
    EVERY_BROKER,
    TOPIC,
    ClusterState,
    Key,
    Shape,
    StoredPartition,
)
from elrcheck.kafka.log.entries import Run
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.metadata_records import (
    CHANGES,
    CREATIONS,
    REST,
    START,
    MetadataRecord,
    read_record,
    topic_and_number,
)

MOST_KNOWN = 1 << 17
"""Circumstances that are remembered."""
MOST_KEYS = 1 << 20

Ranks: TypeAlias = tuple[object, ...]
Step: TypeAlias = tuple[Shape, int]
"""What a change makes of the partition, and what it adds to the leader epoch."""


class Place(NamedTuple):
    """Where a record stands, and when it was written."""

    path: str
    offset: int
    time: int
    position: int


@dataclass(slots=True)
class Alike:
    """Partitions that differ only in the ids of their brokers, and the world around them.

    sound: by the number of what there is to say of the topic, whether they break no rule. explained, created:
    what changes of them, and their creation, come to, if nothing else comes of it.
    """

    sound: dict[int, bool] = field(default_factory=dict)
    explained: set[tuple[Ranks, int, int]] = field(default_factory=set)
    created: set[tuple[int, int, int]] = field(default_factory=set)


@dataclass(slots=True)
class Circumstances:
    """A shape, the brokers that it names and the cluster's settings as they are, and were before the batch.

    steps: by the record, without its partition, and the number of what there is to say of the topic.
    """

    alike: Alike
    steps: dict[tuple[bytes, int], Step] = field(default_factory=dict)


class Quiet:
    """Takes records of which nothing comes. flagged: partitions that break a rule; ghosts: those with members
    of the ELR that were away; `check` follows the same log; `index` notes the brokers of a new partition.
    """

    def __init__(
        self,
        flagged: Container[Key],
        ghosts: Container[Key],
        check: RecordCheck,
        judge: Judge,
        index: Callable[[Key, Shape], None],
    ) -> None:
        self._asked: tuple[int, bytes, int] | None = None
        """The record that was not taken, if it is about a sound partition: offset, value, and what there is
        to say of its topic.
        """
        self._flagged = flagged
        self._ghosts = ghosts
        self._check = check
        self._judge = judge
        self._index = index
        self._taken: list[tuple[Run, int, int]] = []
        """In this batch: records from a number on, and how many."""
        self._state: ClusterState | None = None
        self._times = -1
        self._start = b""
        self._world: tuple[object, ...] = ()
        self._known: dict[tuple[object, ...], Circumstances] = {}
        self._now: dict[Shape, Circumstances] = {}
        self._alikes: dict[tuple[object, ...], Alike] = {}
        self._created: dict[tuple[bytes, int], StoredPartition] = {}
        self._keys: dict[bytes, Key] = {}
        self._brokers: dict[tuple[int, str], int] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        """Of what can be said of a broker, or of a topic."""
        self._topics: dict[str, int] = {}

    # ------------------------------------------------------------------------ records

    def take(self, state: ClusterState, run: Run, number: int) -> int:
        """How many records from that number on change the state and nothing else; they have done so."""
        self._asked = None
        values = run.values
        start = values[number][:START]
        if start not in CHANGES and start not in CREATIONS:
            return 0
        if start != self._start:
            self._start, self._state = start, None
        self._renew(state)
        taken = (self._changes if start in CHANGES else self._creations)(state, run, number)
        if taken:
            self._check.counted.explained += taken
            self._taken.append((run, number, taken))
        return taken

    def _changes(self, state: ClusterState, run: Run, number: int) -> int:
        values, start = run.values, self._start
        partitions, first, keys, topics, now = (
            state.partitions, self._check.first, self._keys, self._topics, self._now
        )  # fmt: skip
        flagged, ghosts = self._flagged, self._ghosts
        at = number
        for at in range(number, len(values)):
            value = values[at]
            if value[:START] != start:
                break
            key = keys.get(value[START:REST])
            if key is None:
                key = self._key(value, state)
                if key is None:
                    break
            before = partitions.get(key)
            if before is None or key in first or key in flagged or key in ghosts:
                break
            shape, leader_epoch, partition_epoch = before
            here = now.get(shape)
            if here is None:
                here = self._circumstances(shape)
            topic = topics.get(key[0])
            if topic is None:
                topic = self._topic(state, key)
            step = here.steps.get((value[REST:], topic)) or self._derived(state, here, before, value, topic)
            if step is None:
                self._asked = (run.offsets[at], value, topic)
                break
            first[key] = before
            partitions[key] = StoredPartition(step[0], leader_epoch + step[1], partition_epoch + 1)
        else:
            at += 1
        return at - number

    def _creations(self, state: ClusterState, run: Run, number: int) -> int:
        values, at = run.values, number
        for at in range(number, len(values)):
            value = values[at]
            if value[:START] != self._start or len(value) < REST:
                break
            key = Key(*topic_and_number(value, START))
            if key.partition < 0 or key in state.partitions or key in self._flagged or key in self._ghosts:
                break
            topic = self._topic(state, key)
            created = self._created.get((value[REST:], topic)) or self._derived_creation(state, value, topic)
            if created is None:
                self._asked = (run.offsets[at], value, topic)
                break
            state.create(key, created)
            self._keys[value[START:REST]] = key
            self._index(key, created.shape)
            if key.partition == 0:
                self._topics.pop(key.topic_id)
        else:
            at += 1
        return at - number

    def learn(self, state: ClusterState, applied: Applied) -> None:
        """This record was explained, and there is no flag at it."""
        asked, self._asked = self._asked, None
        if asked is None or asked[0] != applied.offset or len(applied.changed) != 1:
            return
        ((key, before, after),) = applied.changed
        if after is None or not self.is_sound(state, key):
            return
        _, value, topic = asked
        alike = self._circumstances((before or after).shape).alike
        if before is None:
            alike.created.add((after.leader_epoch, after.partition_epoch, topic))
            self._created[value[REST:], topic] = after
        elif _stays(before.shape, after.shape):
            step = (after.shape, after.leader_epoch - before.leader_epoch)
            self._circumstances(before.shape).steps[value[REST:], topic] = step
            if after.shape.brokers == before.shape.brokers:
                alike.explained.add((after.shape.ranks, step[1], topic))

    def _derived(
        self, state: ClusterState, here: Circumstances, before: StoredPartition, value: bytes, topic: int
    ) -> Step | None:
        """What a change comes to, if nothing else came of it where the brokers have other ids."""
        if not here.alike.explained:
            return None
        record = _read(value)
        if record is None:
            return None
        after = state.changed(before, record.fields)
        old, new, elected = before.shape, after.shape, after.leader_epoch - before.leader_epoch
        if (
            new.brokers != old.brokers
            or (new.ranks, elected, topic) not in here.alike.explained
            or (old.lists.elr and not new.lists.elr)  # depends on what else the record says
            or not _stays(old, new)
            or not (self._now.get(new) or self._circumstances(new)).alike.sound.get(topic)
        ):
            return None
        step = here.steps[value[REST:], topic] = (new, elected)
        return step

    def _derived_creation(self, state: ClusterState, value: bytes, topic: int) -> StoredPartition | None:
        record = _read(value)
        if record is None:
            return None
        after = state.created(record.fields)
        alike = self._circumstances(after.shape).alike
        if (after.leader_epoch, after.partition_epoch, topic) not in alike.created or not alike.sound.get(
            topic
        ):
            return None
        if len(self._created) >= MOST_KNOWN:
            self._created.clear()
        self._created[value[REST:], topic] = after
        return after

    def taken(self) -> Iterator[tuple[Key, Place]]:
        """The partitions that were changed in this batch without notice, and where. They are given back."""
        taken, self._taken = self._taken, []
        for run, number, count in taken:
            for at in range(number, number + count):
                key = self._keys[run.values[at][START:REST]]
                yield key, Place(run.path, run.offsets[at], run.time, run.position)

    def settled(self) -> None:
        """The batch has ended."""
        self._taken.clear()
        if len(self._keys) >= MOST_KEYS:
            self._keys.clear()

    # ------------------------------------------------------------------------ circumstances

    def is_sound(self, state: ClusterState, key: Key) -> bool:
        """The partition breaks no rule now."""
        if state is not self._state or self._check.times != self._times:
            self._renew(state)
        stored = state.partitions.get(key)
        if stored is None or key in self._ghosts:
            return False
        here = self._now.get(stored.shape) or self._circumstances(stored.shape)
        topic = self._topics.get(key.topic_id)
        if topic is None:
            topic = self._topic(state, key)
        sound = here.alike.sound.get(topic)
        if sound is None:
            sound = not any(True for _ in state_signs(state, key, frozenset(), self._judge))
            here.alike.sound[topic] = sound
        return sound

    def _renew(self, state: ClusterState) -> None:
        """Brokers or settings may have changed, or a snapshot has replaced the state."""
        check = self._check
        if state is self._state and check.times == self._times:
            return
        self._state, self._times = state, check.times
        self._now.clear()
        self._created.clear()
        self._brokers.clear()
        self._topics.clear()
        cluster = (BROKER, EVERY_BROKER)
        now, start = state.min_isr.get(cluster), check.min_isr.get(cluster)
        self._world = (state.elr_enabled, check.elr, now, start, check.level_in(state))

    def forget_topic(self, topic_id: str | None = None) -> None:
        """The partition 0 of a topic has changed; of none, names of topics have."""
        if topic_id is None:
            self._topics.clear()
        else:
            self._topics.pop(topic_id, None)

    def _circumstances(self, shape: Shape) -> Circumstances:
        numbers = self._brokers
        brokers = tuple([numbers.get(home) or self._broker(*home) for home in shape.homes])
        place = (shape, brokers, self._start, self._world)
        here = self._known.get(place)
        if here is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
                self._now.clear()
            here = self._known[place] = Circumstances(self._alike(shape, brokers))
        self._now[shape] = here
        return here

    def _alike(self, shape: Shape, brokers: tuple[int, ...]) -> Alike:
        place = (shape.ranks, brokers, self._world)
        alike = self._alikes.get(place)
        if alike is None:
            if len(self._alikes) >= MOST_KNOWN:
                self._alikes.clear()
            alike = self._alikes[place] = Alike()
        return alike

    def _broker(self, broker: int, directory: str) -> int:
        """The number of what is known of a broker, now and before the batch."""
        assert self._state is not None
        now, start = self._state.brokers.get(broker), self._check.brokers.get(broker)
        known = (known_broker(now, directory), known_broker(start, directory))
        number = self._brokers[broker, directory] = self._number("broker", *known)
        return number

    def _topic(self, state: ClusterState, key: Key) -> int:
        number = self._topics.get(key.topic_id)
        if number is None:
            zero = state.partitions.get(Key(key.topic_id, 0))
            replicas = -1 if zero is None else len(zero.shape.lists.replicas)
            own = (TOPIC, state.name_of(key))
            settings = (state.min_isr.get(own), self._check.min_isr.get(own))
            number = self._topics[key.topic_id] = self._number("topic", replicas, *settings)
        return number

    def _number(self, *said: object) -> int:
        return self._numbers.setdefault(said, len(self._numbers) + 1)

    def _key(self, value: bytes, state: ClusterState) -> Key | None:
        """The partition that a change names, or None."""
        if len(value) < REST:
            return None
        key = Key(*topic_and_number(value, START))
        if key not in state.partitions:
            return None
        self._keys[value[START:REST]] = key
        return key


def _read(value: bytes) -> MetadataRecord | None:
    try:
        record = read_record(value)
    except Malformed:
        return None
    return record if isinstance(record, MetadataRecord) else None


def _stays(before: Shape, after: Shape) -> bool:
    """The partition names no broker that it did not name, nor has more or fewer replicas."""
    old, new = before.lists, after.lists
    members = {*new.replicas, *new.isr, *new.elr}
    return (
        len(old.replicas) == len(new.replicas)
        and members <= set(old.replicas)
        and set(after.brokers) <= set(before.brokers)
    )
