"""`elrcheck audit`: the history of every partition in metadata logs, and what is wrong with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import AuditRequest
from elrcheck.commands.audit.hazard_signs import EventSigns, Sign, state_signs
from elrcheck.commands.audit.judged import Judge
from elrcheck.commands.audit.rules import RULES
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, MIN_ISR, TOPIC, Key, PartitionChanged
from elrcheck.kafka.log.history import Applied, History, Settled
from elrcheck.kafka.log.log_files import MetadataLog, logs_of, read_log
from elrcheck.kafka.log.segments import CutOff, Damage
from elrcheck.results.audit_report import (
    AuditDamage,
    AuditedLog,
    AuditFlag,
    AuditReport,
    UnreadRecords,
)

ABOUT_PARTITIONS = frozenset(
    {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD", "CLEAR_ELR_RECORD", "TOPIC_RECORD", "NO_OP_RECORD"}
)
"""Records that change neither brokers nor settings."""


def run_audit(request: AuditRequest, progress: Progress) -> AuditReport:
    """Audit every log that the paths make; raises UsageFault if there is nothing to read."""
    started = time.monotonic()
    logs = logs_of(request.paths)
    audited = []
    for number, log in enumerate(logs, 1):
        progress.stage(f"[{number}/{len(logs)}] {log.name}")
        audit = LogAudit(log)
        audit.run()
        audited.append(audit)
    damage = tuple(AuditDamage(d.path, d.position, d.offset, d.message) for a in audited for d in a.damage)
    records = sum(audit.history.read.records for audit in audited)
    if records == 0:
        raise _nothing(damage, logs)
    flags = tuple(flag for audit in audited for flag in audit.flags)
    unread: Counter[tuple[str, int, bool]] = Counter()
    for audit in audited:
        unread.update(audit.history.read.unread)
    return AuditReport(
        verdict="violated" if flags else "inconclusive" if damage else "holds",
        records=records,
        partitions=sum(len(audit.history.state.partitions) for audit in audited),
        flags=flags,
        damage=damage,
        logs=tuple(audit.described() for audit in audited),
        unread=tuple(UnreadRecords(*kind, count) for kind, count in sorted(unread.items())),
        seconds=round(time.monotonic() - started, 3),
        strict=request.strict,
    )


def _nothing(damage: tuple[AuditDamage, ...], logs: tuple[MetadataLog, ...]) -> UsageFault:
    if damage:
        first = damage[0]
        where = f"{first.path}, byte {first.position}"
        return UsageFault("log-empty", f"no record could be read: {first.message}", where=where)
    return UsageFault("log-empty", "the log has no complete batch of records", where=logs[0].name)


@dataclass
class LogAudit:
    """One log, from its first record to its last."""

    log: MetadataLog
    history: History = field(default_factory=History)
    flags: list[AuditFlag] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    incomplete_bytes: int = 0
    _signs: EventSigns = field(default_factory=EventSigns)
    _judge: Judge = field(default_factory=Judge)
    _open: dict[Key, dict[str, int]] = field(default_factory=dict)
    """The rules that a partition breaks now, each with the number of its flag."""
    _named_by: dict[int, set[Key]] = field(default_factory=dict)
    """Partitions that name a broker, now or earlier."""
    _changed: dict[Key, Applied] = field(default_factory=dict)
    """What may have changed since the last judgement, and by which record."""
    _last: Applied | None = None

    def run(self) -> None:
        for event in self.history.events(read_log(self.log)):
            match event:
                case Applied():
                    self._apply(event)
                case Settled(whole) if whole:
                    self._judge.forget()
                    self._judge_all({*self.history.state.partitions, *self._open})
                case Settled():
                    self._judge_all(list(self._changed))
                case Damage():
                    self.damage.append(event)
                case CutOff():
                    self.incomplete_bytes += event.bytes_left

    def described(self) -> AuditedLog:
        read = self.history.read
        return AuditedLog(
            name=self.log.name,
            files=tuple(str(path) for path in self.log.files),
            records=read.records,
            first_offset=read.first_offset,
            last_offset=read.last_offset,
            partitions=len(self.history.state.partitions),
            aborted_transactions=read.transactions_aborted,
            open_transaction=read.transaction_open,
            incomplete_bytes=self.incomplete_bytes,
        )

    def _apply(self, applied: Applied) -> None:
        self._last = applied
        for key, sign in self._signs.seen(applied, self.history.state):
            self._flag(applied, key, sign)
        for changed in applied.changed:
            self._changed[changed.key] = applied
            self._index(changed)
        if applied.record.name not in ABOUT_PARTITIONS:
            self._judge.forget()
        for key in self._affected(applied):
            self._changed.setdefault(key, applied)

    def _index(self, changed: PartitionChanged) -> None:
        if changed.after is None:
            return
        now = changed.after.registration
        then = None if changed.before is None else changed.before.registration
        if then is not None and (then.replicas, then.isr, then.elr) == (now.replicas, now.isr, now.elr):
            return
        for broker in (*now.replicas, *now.isr, *now.elr):
            self._named_by.setdefault(broker, set()).add(changed.key)

    def _affected(self, applied: Applied) -> Iterable[Key]:
        """Partitions whose judgement may change by a record about something else."""
        fields, state = applied.record.fields, self.history.state
        match applied.record.name:
            case "FENCE_BROKER_RECORD" | "UNFENCE_BROKER_RECORD":
                return self._named_by.get(fields["id"], ())
            case "REGISTER_BROKER_RECORD" | "UNREGISTER_BROKER_RECORD" | "BROKER_REGISTRATION_CHANGE_RECORD":
                return self._named_by.get(fields["brokerId"], ())
            case "FEATURE_LEVEL_RECORD" if fields["name"] == ELR_FEATURE:
                return state.partitions
            case "CONFIG_RECORD" if fields["name"] == MIN_ISR:
                topic = fields["resourceType"] == TOPIC
                return state.keys_of(fields["resourceName"]) if topic else state.partitions
        return ()

    def _judge_all(self, keys: Iterable[Key]) -> None:
        """Flag what is newly wrong with these partitions, and note what is right again."""
        state = self.history.state
        for key in sorted(keys):
            applied = self._changed.get(key) or self._last
            assert applied is not None
            there = key in state.partitions
            signs = dict(state_signs(state, key, self._signs.ghosts(key), self._judge)) if there else {}
            before = self._open.pop(key, {})
            for rule, number in before.items():
                if rule not in signs:
                    self.flags[number] = replace(self.flags[number], until=applied.offset)
            now = {}
            for rule, message in signs.items():
                now[rule] = before[rule] if rule in before else self._flag(applied, key, (rule, message))
            if now:
                self._open[key] = now
        self._changed.clear()
        self._signs.settled(state)

    def _flag(self, applied: Applied, key: Key, sign: Sign) -> int:
        name, message = sign
        rule = RULES[name]
        self.flags.append(
            AuditFlag(
                rule=name,
                hazard=rule.hazard,
                severity=rule.severity,
                path=applied.path,
                offset=applied.offset,
                time=_time(applied.time),
                topic=self.history.state.name_of(key),
                partition=key.partition,
                message=message,
                remedy=rule.remedy,
            )
        )
        return len(self.flags) - 1


def _time(milliseconds: int) -> str:
    """A time of the log in UTC, or the number itself if no calendar holds it."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
