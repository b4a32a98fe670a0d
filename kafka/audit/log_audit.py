"""One metadata log, followed from its first record to its last: its flags and its damage.

`KnownChanges` applies a record if an identical change was judged harmless before. Any other record is judged: the
model looks for an event that explains it (`RecordCheck`), `EventSigns` looks for signs of findings, and after the
batch the properties are evaluated on the partitions that it may have changed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from elrcheck.kafka.audit.findings import ClusterAtEnd, FlagList, LogFindings, RecordPlace
from elrcheck.kafka.audit.hazard_signs import EventSigns, Sign, state_signs
from elrcheck.kafka.audit.known_changes import KnownChanges
from elrcheck.kafka.audit.record_check import RecordCheck
from elrcheck.kafka.audit.rules import NONE, Repairs
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, MIN_ISR, TOPIC, ClusterState, PartitionKey
from elrcheck.kafka.log.entries import Item, RecordRun
from elrcheck.kafka.log.history import Applied, History, Settled
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.kafka.log.segments import CutOff, Damage
from elrcheck.kafka.partition_questions import NO_LEADER

ABOUT_PARTITIONS = frozenset(
    {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD", "CLEAR_ELR_RECORD", "TOPIC_RECORD", "NO_OP_RECORD"}
)
"""Records that change neither brokers nor settings."""
ALLOCATIONS = 100_000
"""New objects between two searches for reference cycles."""
TOPICS = frozenset({"TOPIC_RECORD", "REMOVE_TOPIC_RECORD"})


class LogAudit:
    """The audit of one log."""

    def __init__(self, log: MetadataLog, repairs: Repairs = NONE) -> None:
        self.log = log
        self.history = History(self._apply_known)
        self.flags = FlagList(log, repairs)
        self.damage: list[Damage] = []
        self.incomplete_bytes = 0
        self._check = RecordCheck(repairs.knobs)
        self._signs = EventSigns(self._check.before)
        self.known_changes = KnownChanges(self._check, self._signs, self.flags)
        self._changed: dict[PartitionKey, RecordPlace] = {}
        """Partitions that may have changed in this batch, with the record that changed each."""
        self._touched: dict[int, RecordPlace] = {}
        """Brokers that may have changed in this batch, with the record that changed each."""
        self._last: Applied | RecordRun | None = None

    def run(self, items: Iterable[Item]) -> Iterator[Applied | RecordRun]:
        """Read the log; yield the last item read after each step."""
        with _rare_collections():
            yield from self._steps(items)

    def _steps(self, items: Iterable[Item]) -> Iterator[Applied | RecordRun]:
        for event in self.history.events(items):
            match event:
                case Applied():
                    self._apply(event)
                    continue
                case Settled(whole, offset) if whole:
                    self._judge({*self.history.state.partitions, *self.flags.open}, offset)
                case Settled():
                    self._judge(self._affected())
                case Damage():
                    self.damage.append(event)
                    continue
                case CutOff():
                    self.incomplete_bytes += event.bytes_left
                    continue
            if self._last is not None:
                yield self._last

    def findings(self) -> LogFindings:
        """Return the report on the records read so far."""
        findings = LogFindings(
            self.log,
            self.history.read,
            len(self.history.state.partitions),
            list(self.flags.raised),
            self.damage,
            self.incomplete_bytes,
            self._check.counted,
            ClusterAtEnd.of(self.history.state),
        )
        findings.sort()
        return findings

    def _apply_known(self, run: RecordRun, number: int) -> int:
        self._last = run
        if run.time <= self._signs.watched_until:
            return 0
        return self.known_changes.apply(self.history.state, run, number)

    def _apply(self, applied: Applied) -> None:
        self._last = applied
        state, record = self.history.state, applied.record
        place = RecordPlace.of(applied)
        flags, explained = len(self.flags.raised), self._check.counted.explained
        for key, sign in self._signs.signs_of(applied, state, self.history.in_snapshot):
            self.flags.add(place, key, state.name_of(key), sign)
        for key, sign in self._check.signs_of(applied, state, self.history.in_snapshot):
            self.flags.add(place, key, state.name_of(key), sign)
        for key, _, _ in applied.changed:
            self._changed[key] = place
            if key.partition == 0:
                self.known_changes.forget_topic(key.topic_id)
        if record.name in TOPICS:
            self.known_changes.forget_topic(record.fields["topicId"])
        if record.name not in ABOUT_PARTITIONS:
            self._note_affected(applied, place)
        if (len(self.flags.raised), self._check.counted.explained) == (flags, explained + 1):
            self.known_changes.learn(state, applied)

    def _note_affected(self, applied: Applied, place: RecordPlace) -> None:
        """Note the partitions that a record about something else may affect."""
        for key, (run, number) in self.known_changes.hand_over().items():  # they count as changed by their own records
            earlier = self._changed.get(key)
            if earlier is None or earlier.offset < run.offsets[number]:
                self._changed[key] = RecordPlace.in_run(run, number)
        fields, state = applied.record.fields, self.history.state
        affected: Iterable[PartitionKey] = ()
        match applied.record.name:
            case "FENCE_BROKER_RECORD" | "UNFENCE_BROKER_RECORD":
                self._touched.setdefault(fields["id"], place)
            case "REGISTER_BROKER_RECORD" | "UNREGISTER_BROKER_RECORD" | "BROKER_REGISTRATION_CHANGE_RECORD":
                self._touched.setdefault(fields["brokerId"], place)
            case "FEATURE_LEVEL_RECORD" if fields["name"] == ELR_FEATURE:
                affected = state.partitions
            case "CONFIG_RECORD" if fields["name"] == MIN_ISR:
                topic = fields["resourceType"] == TOPIC
                affected = state.keys_of(fields["resourceName"]) if topic else state.partitions
        for key in affected:
            self._changed.setdefault(key, place)

    def _affected(self) -> Iterable[PartitionKey]:
        """Return the partitions that may break a rule now, or satisfy it again."""
        state = self.history.state
        for broker, place in self._touched.items():
            for key in self.known_changes.unsound(state, broker):
                self._changed.setdefault(key, place)
        return self._changed

    def _judge(self, keys: Iterable[PartitionKey], offset: int = 0) -> None:
        """Update the flags of these partitions.

        offset: at which a condition ends without a record, as when a snapshot lacks the partition.
        """
        state, flags = self.history.state, self.flags
        doubtful = [key for key in keys if key in flags.open or not self.known_changes.is_sound(state, key)]
        for key in sorted(doubtful):
            place = self._changed.get(key)
            signs: Iterable[Sign] = ()
            if key in state.partitions:
                signs = state_signs(state, key, self._signs.ghosts(key), self._check.knobs)
            end = (offset, self._last.time if self._last else 0) if place is None else (place.offset, place.time)
            flags.update(key, state.name_of(key), signs, place, end, _is_complete(state, key))
        for applied, key, sign in self._signs.of_batch(state):
            flags.add(RecordPlace.of(applied), key, state.name_of(key), sign)
        self._changed.clear()
        self._touched.clear()
        self.known_changes.end_batch()
        self._check.settled(state)


def _is_complete(state: ClusterState, key: PartitionKey) -> bool:
    """Return whether nothing is left of an earlier event: every replica is in the ISR, or the partition is deleted."""
    stored = state.partitions.get(key)
    if stored is None:
        return True
    p = stored.shape.lists
    return p.leader != NO_LEADER and frozenset(p.isr) >= frozenset(p.replicas)


def findings_of(log: MetadataLog, items: Iterable[Item], repairs: Repairs = NONE) -> LogFindings:
    """Audit a log to its end. items: of the log, or of some of its partitions."""
    audit = LogAudit(log, repairs)
    for _ in audit.run(items):
        pass
    return audit.findings()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: an audit creates many small objects and hardly any cycle."""
    thresholds = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
