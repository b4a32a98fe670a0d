"""One metadata log, followed from its first record to its last: what it flags, and where it is damaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from msgspec.structs import replace

from elrcheck.kafka.audit.builds import NONE, Repairs
from elrcheck.kafka.audit.findings import LogFindings
from elrcheck.kafka.audit.hazard_signs import EventSigns, Sign, state_signs
from elrcheck.kafka.audit.judged import Judge
from elrcheck.kafka.audit.quiet import Place, Quiet
from elrcheck.kafka.audit.record_check import RecordCheck
from elrcheck.kafka.audit.rules import RULES
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, MIN_ISR, TOPIC, ClusterState, Key, PartitionChanged
from elrcheck.kafka.log.entries import Item, Run
from elrcheck.kafka.log.history import Applied, History, Settled
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.kafka.log.partition_table import Shape
from elrcheck.kafka.log.segments import CutOff, Damage
from elrcheck.results.audit_report import AuditFlag

ABOUT_PARTITIONS = frozenset(
    {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD", "CLEAR_ELR_RECORD", "TOPIC_RECORD", "NO_OP_RECORD"}
)
"""Records that change neither brokers nor settings."""
TOPICS = frozenset({"TOPIC_RECORD", "REMOVE_TOPIC_RECORD"})


@dataclass
class LogAudit:
    """One log, from its first record to its last."""

    log: MetadataLog
    repairs: Repairs = NONE
    history: History = field(init=False)
    flags: list[AuditFlag] = field(default_factory=list)
    flagged: list[Key] = field(default_factory=list)
    """The partition of each flag."""
    damage: list[Damage] = field(default_factory=list)
    incomplete_bytes: int = 0
    _signs: EventSigns = field(default_factory=EventSigns)
    _check: RecordCheck = field(init=False)
    _judge: Judge = field(init=False)
    _open: dict[Key, dict[str, int]] = field(default_factory=dict)
    """The rules that a partition breaks now, each with the number of its flag."""
    _named_by: dict[int, set[int]] = field(default_factory=dict)
    """The rows of partitions that name a broker, now or earlier."""
    _changed: dict[Key, Place] = field(default_factory=dict)
    """What may have changed since the last judgement, and by which record."""
    _touched: dict[int, Place] = field(default_factory=dict)
    """Brokers that may have changed since then, and by which record."""
    _last: Applied | Run | None = None
    _indexed: ClusterState | None = None
    _settled: ClusterState | None = None
    _quiet: Quiet = field(init=False)

    def __post_init__(self) -> None:
        self.history = History(self._take)
        self._check, self._judge = RecordCheck(self.repairs.knobs), Judge(self.repairs.knobs)
        self._quiet = Quiet(self._open, self._signs.left, self._check, self._judge, self._note)

    def run(self, items: Iterable[Item]) -> Iterator[Applied | Run]:
        """Read the log; pause after each step with what was read last."""
        for event in self.history.events(items):
            match event:
                case Applied():
                    self._apply(event)
                    continue
                case Settled(whole, offset) if whole:
                    self._judge.forget()
                    every = {*self.history.state.partitions, *self._open}
                    self._judge_all(self._doubtful(every), offset)
                case Settled():
                    self._judge_all(self._affected())
                case Damage():
                    self.damage.append(event)
                    continue
                case CutOff():
                    self.incomplete_bytes += event.bytes_left
                    continue
            if self._last is not None:
                yield self._last

    def findings(self) -> LogFindings:
        found = LogFindings(
            self.log,
            self.history.read,
            len(self.history.state.partitions),
            list(zip(self.flagged, self.flags, strict=True)),
            self.damage,
            self.incomplete_bytes,
            self._check.counted,
        )
        found.sort()
        return found

    def _take(self, run: Run, number: int) -> int:
        self._last = run
        if run.time <= self._signs.attentive:
            return 0
        return self._quiet.take(self.history.state, run, number)

    def _apply(self, applied: Applied) -> None:
        self._last = applied
        state = self.history.state
        name = applied.record.name
        flags, explained = len(self.flags), self._check.counted.explained
        for key, sign in self._signs.seen(applied, state, self.history.in_snapshot):
            if not self.repairs.harmless(sign[0]):
                self._flag(applied, key, sign)
        for key, sign in self._check.seen(applied, state, self.history.in_snapshot):
            self._flag(applied, key, sign)
        place = Place(applied.path, applied.offset, applied.time, applied.position)
        for changed in applied.changed:
            self._changed[changed.key] = place
            self._index(changed)
            self._quiet.changed(changed, state)
            if changed.key.partition == 0:
                self._quiet.forget_topic(changed.key.topic_id)
        if name not in ABOUT_PARTITIONS:
            self._judge.forget()
            for key, at in self._quiet.taken():
                noted = self._changed.get(key)
                if noted is None or noted.offset < at.offset:
                    self._changed[key] = at
        if name in TOPICS:
            self._quiet.forget_topic(applied.record.fields["topicId"])
        self._affect(applied, place)
        if (len(self.flags), self._check.counted.explained) == (flags, explained + 1):
            self._quiet.learn(state, applied)

    def _index(self, changed: PartitionChanged) -> None:
        if changed.after is None:
            return
        now = changed.after.shape.lists
        then = None if changed.before is None else changed.before.shape.lists
        if then is None or (then.replicas, then.isr, then.elr) != (now.replicas, now.isr, now.elr):
            self._note(changed.key, changed.after.shape)

    def _note(self, key: Key, shape: Shape) -> None:
        state = self.history.state
        if state is not self._indexed:
            self._indexed = state
            self._named_by.clear()
        row = state.partitions.row_of(key)
        for broker in {*shape.lists.replicas, *shape.lists.isr, *shape.lists.elr}:
            self._named_by.setdefault(broker, set()).add(row)

    def _affect(self, applied: Applied, place: Place) -> None:
        """Note the partitions whose judgement may change by a record about something else."""
        fields, state = applied.record.fields, self.history.state
        affected: Iterable[Key] = ()
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

    def _affected(self) -> list[Key]:
        """What may be wrong now, or is right again."""
        state = self.history.state
        if state is self._indexed:
            for broker, place in self._touched.items():
                for key in self._quiet.unsound(state, self._named_by.get(broker, ())):
                    self._changed.setdefault(key, place)
        return self._doubtful(self._changed)

    def _doubtful(self, keys: Iterable[Key]) -> list[Key]:
        """Those that break a rule, or did."""
        state, is_sound = self.history.state, self._quiet.is_sound
        return [key for key in keys if key in self._open or not is_sound(state, key)]

    def _judge_all(self, keys: Iterable[Key], offset: int = 0) -> None:
        """Flag what is newly wrong with these partitions, and note what is right again.

        offset: of what no record of its own did, as when a snapshot lacks a partition.
        """
        state = self.history.state
        news = self._check.news or state is not self._settled
        for applied, key, sign in self._signs.of_batch(state):
            if not self.repairs.harmless(sign[0]):
                self._flag(applied, key, sign)
        for key in sorted(keys):
            place = self._changed.get(key)
            at = offset if place is None else place.offset
            there = key in state.partitions
            found = state_signs(state, key, self._signs.ghosts(key), self._judge) if there else ()
            signs = {rule: said for rule, said in found if not self.repairs.harmless(rule)}
            before = self._open.pop(key, {})
            for rule, number in before.items():
                if rule not in signs:
                    self.flags[number] = replace(self.flags[number], until=at)
            now = {}
            for rule, message in signs.items():
                if rule in before:
                    now[rule] = before[rule]
                elif place is not None:
                    now[rule] = self._flag(place, key, (rule, message))
            if now:
                self._open[key] = now
                self._quiet.flagged(state, key)
        self._changed.clear()
        self._touched.clear()
        self._quiet.settled()
        if news:
            self._signs.settled(state)
            self._settled = state
        self._check.settled(state)

    def _flag(self, at: Applied | Place, key: Key, sign: Sign) -> int:
        name, message = sign
        rule = RULES[name]
        self.flagged.append(key)
        self.flags.append(
            AuditFlag(
                rule=name,
                hazard=rule.hazard,
                severity=rule.severity,
                log=self.log.name,
                path=at.path,
                position=at.position,
                offset=at.offset,
                time=time_of(at.time),
                topic=self.history.state.name_of(key),
                partition=key.partition,
                message=message,
                remedy=rule.remedy,
            )
        )
        return len(self.flags) - 1


def time_of(milliseconds: int) -> str:
    """A time of the log in UTC, or the number itself if no calendar holds it."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
