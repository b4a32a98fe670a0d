"""Fast path: a change is skipped when an identical pattern was already judged harmless.

Most records of a log move a partition from one sound state to another. What the audit has to say of such a
record depends on the pattern of the partition, on what is known of the brokers that it names, on the settings
of its topic and of the cluster, on how many replicas the topic's partition 0 has, and on what the record says
with places instead of brokers (`record_codes.py`); on nothing else. So what was found out once - the record
is explained, and no rule is broken before or after it - holds for the next partition of which all this is
the same. Its record only has to change the state, and is not even decoded.

Which brokers they are makes no difference, because the places of brokers are in ascending order. A record is
explained by a question in which brokers are numbered like that (`explained.py`), and a property is judged on
a state that numbers them in the order of the lists (`judged.py`): neither has an id in it, and both are the
same for two partitions of the same pattern. The epochs are left out of the pattern, because the question has
only their differences, and the properties do not ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from elrcheck.kafka.audit.hazard_signs import state_signs
from elrcheck.kafka.audit.judged import Judge
from elrcheck.kafka.audit.record_check import RecordCheck
from elrcheck.kafka.audit.surroundings import Facts, Surroundings
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.cluster_state import ClusterState, Key, PartitionChanged, StoredPartition
from elrcheck.kafka.log.entries import Run
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.metadata_records import REST, START, MetadataRecord, read_record, topic_and_number
from elrcheck.kafka.log.partition_table import PartitionTable, Pattern, Shape, Standing
from elrcheck.kafka.log.record_codes import CREATION, OTHER, TWICE, Columns, RecordCodes

MOST_KNOWN = 1 << 17
"""Circumstances that are remembered."""


class Place(NamedTuple):
    """Where a record stands, and when it was written."""

    path: str
    offset: int
    time: int
    position: int


class Situation(Standing):
    """A pattern, what is known of its brokers and the cluster's settings as they are, and were before the
    batch; topic: the number of what there is to say of the topic.

    explained: what changes come to that an event explains, with what they add to the leader epoch. created:
    the epochs of creations that are explained.
    """

    __slots__ = ("created", "explained", "topic")

    def __init__(self, pattern: Pattern, facts: object, topic: int) -> None:
        super().__init__(pattern, facts)
        self.topic = topic
        self.explained: set[tuple[Pattern, int]] = set()
        self.created: set[tuple[int, int]] = set()


class Asked(NamedTuple):
    """A record that was not taken. before: the situation of its partition, None for a creation."""

    offset: int
    value: bytes
    code: int
    before: Situation | None


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
        self._asked: Asked | None = None
        self._flagged = flagged
        self._ghosts = ghosts
        self._check = check
        self._judge = judge
        self._index = index
        self._taken: list[tuple[Run, int, Columns, int, int]] = []
        """In this batch: records from a number on, and where they stand in their block."""
        self._around = Surroundings(check, self._forgotten)
        self._codes = RecordCodes()
        self._columns: Columns | None = None
        self._situations: dict[tuple[Pattern, int, int], Situation] = {}
        self._known = 0
        self._created: dict[tuple[bytes, int], StoredPartition] = {}

    # ------------------------------------------------------------------------ records

    def take(self, state: ClusterState, run: Run, number: int) -> int:
        """How many records from that number on change the state and nothing else; they have done so."""
        self._asked = None
        values = run.values
        self._renew(state)
        columns = self._columns
        if columns is None or columns.block is not values.block:
            columns = self._columns = self._codes.columns(values.block, state.partitions)
        first, stop = values.first + number, values.stop
        at, codes = first, columns.codes
        while at < stop:
            at = self._changes(state.partitions, columns, at, stop)
            if at == stop or codes[at] in (OTHER, TWICE):
                break
            value, offset = values[at - values.first], run.offsets[at - values.first]
            if not (self._creation if codes[at] == CREATION else self._change)(state, columns, at, value, offset):
                break
            at += 1
        if at > first:
            self._check.counted.explained += at - first
            self._taken.append((run, number, columns, first, at))
        return at - first

    def _changes(self, table: PartitionTable, columns: Columns, first: int, stop: int) -> int:
        """The first record from there on whose step is not known; those before it have changed the state."""
        standings, homes = table.standings, table.homes
        leader_epochs, partition_epochs = table.leader_epochs, table.partition_epochs
        rows, codes, nowhere = columns.rows, columns.codes, standings[0]
        for at in range(first, stop):
            row = rows[at]
            here, facts = standings[row], homes[row].facts
            if here.facts is not facts:
                here = here.moves.get(facts) or self._here(table, row) or nowhere
            step = here.steps.get(codes[at])
            if step is None:
                return at
            standings[row], elected = step
            leader_epochs[row] += elected
            partition_epochs[row] += 1
        return stop

    def _change(self, state: ClusterState, columns: Columns, at: int, value: bytes, offset: int) -> bool:
        """Accept an unseen change if an equivalent one produced the same pattern before."""
        table = state.partitions
        key = Key(*topic_and_number(value, START))
        row = table.row_of(key)
        here = self._here(table, row)
        if here is None:
            return False
        if columns.rows[at] != row:
            columns.rows[at], columns.codes[at] = row, min(columns.codes[at], -1)
        self._asked = Asked(offset, value, columns.codes[at], here)
        record = _read(value) if here.explained else None
        if record is None:
            return False
        before = table[key]
        after = state.changed(before, record.fields)
        old, new, elected = before.shape, after.shape, after.leader_epoch - before.leader_epoch
        if (
            new.brokers != old.brokers
            or (new.pattern, elected) not in here.explained
            or (old.lists.elr and not new.lists.elr)  # depends on what else the record says
            or not _stays(old, new)
            or (new.home is not old.home and _starts(state, old, new))
        ):
            return False
        there = self._situation(new.pattern, self._around.facts_of(new.home), here.topic)
        if not there.sound:
            return False
        if new.home is old.home and columns.codes[at] >= 0:
            here.steps[columns.codes[at]] = there, elected
        table[key] = after
        if new.home is not old.home:
            columns.forget(row)
        return True

    def _creation(self, state: ClusterState, columns: Columns, at: int, value: bytes, offset: int) -> bool:
        """Take the creation of a partition if the like of it was explained before."""
        key = Key(*topic_and_number(value, START))
        if key.partition < 0 or key in state.partitions or key in self._flagged or key in self._ghosts:
            return False
        topic = self._around.topic_of(key)
        created = self._created.get((value[REST:], topic)) or self._derived_creation(state, value, topic)
        if created is None:
            self._asked = Asked(offset, value, CREATION, None)
            return False
        state.create(key, created)
        self._index(key, created.shape)
        if key.partition == 0:
            self.forget_topic(key.topic_id)
        columns.rows[at] = state.partitions.row_of(key)
        return True

    def _derived_creation(self, state: ClusterState, value: bytes, topic: int) -> StoredPartition | None:
        record = _read(value)
        if record is None:
            return None
        after = state.created(record.fields)
        there = self._situation(after.shape.pattern, self._around.facts_of(after.shape.home), topic)
        if (after.leader_epoch, after.partition_epoch) not in there.created or not there.sound:
            return None
        self._remember(value, topic, after)
        return after

    def _remember(self, value: bytes, topic: int, created: StoredPartition) -> None:
        if len(self._created) >= MOST_KNOWN:
            self._created.clear()
        self._created[value[REST:], topic] = created

    def learn(self, state: ClusterState, applied: Applied) -> None:
        """This record was explained, and there is no flag at it."""
        asked, self._asked = self._asked, None
        if asked is None or asked.offset != applied.offset or len(applied.changed) != 1:
            return
        ((key, before, after),) = applied.changed
        if after is None or not self.is_sound(state, key):
            return
        topic = self._around.topic_of(key) if asked.before is None else asked.before.topic
        there = self._situation(after.shape.pattern, self._around.facts_of(after.shape.home), topic)
        there.sound = True
        if asked.before is None:
            if before is None:
                there.created.add((after.leader_epoch, after.partition_epoch))
                self._remember(asked.value, topic, after)
        elif before is not None and _stays(before.shape, after.shape):
            elected = after.leader_epoch - before.leader_epoch
            if after.shape.home is before.shape.home and asked.code >= 0:
                asked.before.steps[asked.code] = there, elected
            if after.shape.brokers == before.shape.brokers:
                asked.before.explained.add((after.shape.pattern, elected))
            self._known += 1

    # ------------------------------------------------------------------------ of a batch

    def taken(self) -> Iterator[tuple[Key, Place]]:
        """The partitions that were changed in this batch without notice, and where. They are given back."""
        taken, self._taken = self._taken, []
        keys = self._around.state.partitions.keys_of_rows
        for run, number, columns, first, stop in taken:
            for row, offset in zip(columns.rows[first:stop], run.offsets[number : number + stop - first], strict=True):
                key = keys[row]
                if key is not None:
                    yield key, Place(run.path, offset, run.time, run.position)

    def settled(self) -> None:
        """The batch has ended."""
        self._taken.clear()
        if self._known > MOST_KNOWN:
            self._known = 0
            self._situations.clear()
            for row, standing in enumerate(self._around.state.partitions.standings):
                self._around.state.partitions.standings[row] = standing.pattern.plain

    def changed(self, changed: PartitionChanged, state: ClusterState) -> None:
        """A record has changed this partition, and was not taken."""
        if self._columns is None or changed.before is None or changed.after is None:
            return
        if changed.before.shape.home is not changed.after.shape.home:
            self._columns.forget(state.partitions.row_of(changed.key))

    def flagged(self, state: ClusterState, key: Key) -> None:
        """This partition breaks a rule now, so that its records are not taken."""
        self._plain(state.partitions, state.partitions.row_of(key))

    @staticmethod
    def _plain(table: PartitionTable, row: int) -> None:
        table.standings[row] = table.standings[row].pattern.plain

    # ------------------------------------------------------------------------ soundness

    def is_sound(self, state: ClusterState, key: Key) -> bool:
        """The partition breaks no rule now."""
        self._renew(state)
        row = state.partitions.row_of(key)
        return row > 0 and self._is_sound(state, row, key)

    def unsound(self, state: ClusterState, rows: Iterable[int]) -> Iterator[Key]:
        """Those of these partitions that break a rule now, or did before."""
        self._renew(state)
        table = state.partitions
        standings, homes = table.standings, table.homes
        for row in rows:
            here, facts = standings[row], homes[row].facts
            if here.facts is not facts and (moved := here.moves.get(facts)) is not None:
                here = standings[row] = moved
            if here.sound and here.facts is facts:
                continue
            key = table.keys_of_rows[row]
            if key is not None and (key in self._flagged or not self._is_sound(state, row, key)):
                yield key

    def _is_sound(self, state: ClusterState, row: int, key: Key) -> bool:
        if key in self._ghosts:
            return False
        here = self._standing(state.partitions, row, key)
        if here.sound is None:
            here.sound = not any(True for _ in state_signs(state, key, frozenset(), self._judge))
        return here.sound

    # ------------------------------------------------------------------------ situations

    def _here(self, table: PartitionTable, row: int) -> Situation | None:
        """The situation of a partition whose records may be taken; None for any other."""
        key = table.keys_of_rows[row]
        if key is None or key in self._flagged or key in self._ghosts or key in self._check.first:
            return None
        return self._standing(table, row, key)

    def _standing(self, table: PartitionTable, row: int, key: Key) -> Situation:
        """The situation of a partition, which is noted unless its records may not be taken."""
        here, facts = table.standings[row], self._around.facts_of(table.homes[row])
        if isinstance(here, Situation):
            if here.facts is facts:
                return here
            found = here.moves[facts] = self._situation(here.pattern, facts, here.topic)
        else:
            found = self._situation(here.pattern, facts, self._around.topic_of(key))
        if key not in self._check.first and key not in self._flagged and key not in self._ghosts:
            table.standings[row] = found
        return found

    def _situation(self, pattern: Pattern, facts: Facts, topic: int) -> Situation:
        place = (pattern, id(facts), topic)
        found = self._situations.get(place)
        if found is None:
            found = self._situations[place] = Situation(pattern, facts, topic)
        return found

    def _renew(self, state: ClusterState) -> None:
        """Brokers or settings may have changed, or a snapshot has replaced the state."""
        around = self._around
        if around.is_current(state):
            return
        if state is not around.state:
            self._codes.forget_rows()
            self._columns = None
            self._taken.clear()
        self._created.clear()
        around.renew(state)

    def forget_topic(self, topic_id: str) -> None:
        """The name, the partition 0 or a setting of a topic may have changed."""
        self._around.forget_topic(topic_id)

    def _forgotten(self, key: Key) -> None:
        self.flagged(self._around.state, key)


def _read(value: bytes) -> MetadataRecord | None:
    try:
        record = read_record(value)
    except Malformed:
        return None
    return record if isinstance(record, MetadataRecord) else None


def _starts(state: ClusterState, before: Shape, after: Shape) -> bool:
    """A broker that is fenced names another log directory, which `EventSigns` notes."""
    moved = set(after.home.pairs) - set(before.home.pairs)
    known = [state.brokers.get(broker) for broker, _ in moved]
    return any(broker is not None and broker.fenced for broker in known)


def _stays(before: Shape, after: Shape) -> bool:
    """The partition names no broker that it did not name, nor has more or fewer replicas."""
    old, new = before.lists, after.lists
    members = {*new.replicas, *new.isr, *new.elr}
    return (
        len(old.replicas) == len(new.replicas)
        and members <= set(old.replicas)
        and set(after.brokers) <= set(before.brokers)
    )
