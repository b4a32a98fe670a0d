"""`elrcheck audit`: the history of every partition in metadata logs, and what is wrong with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from elrcheck.base.errors import UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import Progress, RecordsDone
from elrcheck.base.requests import AuditRequest
from elrcheck.commands.audit.log_audit import LogAudit
from elrcheck.commands.audit.timelines import timelines_of, worst_partitions
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.log_files import MetadataLog, logs_of, read_log, size_of
from elrcheck.results.audit_report import (
    AuditDamage,
    AuditReport,
    AuditTimeline,
    UnreadRecords,
)

SECONDS = 0.5
"""Between two looks at the clock's progress."""
STEPS = 256
"""Between two looks at the clock."""


def run_audit(request: AuditRequest, progress: Progress) -> AuditReport:
    """Audit every log that the paths make; raises UsageFault if there is nothing to read.

    After an interruption the report has what was read until then.
    """
    started = time.monotonic()
    logs = logs_of(request.paths)
    audited: list[LogAudit] = []
    timelines: list[AuditTimeline] = []
    with Interrupts() as interrupted:
        meter = _Meter(logs, progress, started)
        for number, log in enumerate(logs, 1):
            progress.stage(f"[{number}/{len(logs)}] {log.name}")
            audited.append(LogAudit(log))
            for last in audited[-1].run(read_log(log)):
                meter.read(audited, last)
                if interrupted():
                    break
            if interrupted():
                break
        if not interrupted():
            for audit, keys in worst_partitions(audited):
                timelines += timelines_of(audit, keys, read_log(audit.log))
        stopped = interrupted()
    damage = tuple(AuditDamage(d.path, d.position, d.offset, d.message) for a in audited for d in a.damage)
    records = sum(audit.history.read.records for audit in audited)
    if records == 0:
        if stopped:
            raise KeyboardInterrupt
        raise _nothing(damage, logs)
    flags = tuple(flag for audit in audited for flag in audit.flags)
    unread: Counter[tuple[str, int, bool]] = Counter()
    for audit in audited:
        unread.update(audit.history.read.unread)
    return AuditReport(
        verdict="violated" if flags else "inconclusive" if damage or stopped else "holds",
        records=records,
        partitions=sum(len(audit.history.state.partitions) for audit in audited),
        flags=flags,
        damage=damage,
        logs=tuple(audit.described() for audit in audited),
        unread=tuple(UnreadRecords(*kind, count) for kind, count in sorted(unread.items())),
        seconds=round(time.monotonic() - started, 3),
        timelines=tuple(timelines),
        strict=request.strict,
        interrupted=stopped,
    )


def _nothing(damage: tuple[AuditDamage, ...], logs: tuple[MetadataLog, ...]) -> UsageFault:
    if damage:
        first = damage[0]
        where = f"{first.path}, byte {first.position}"
        return UsageFault("log-empty", f"no record could be read: {first.message}", where=where)
    return UsageFault("log-empty", "the log has no complete batch of records", where=logs[0].name)


class _Meter:
    """Says how far the audit is, at most twice a second."""

    def __init__(self, logs: Iterable[MetadataLog], progress: Progress, started: float) -> None:
        self.progress = progress
        self.started = self.said = started
        self.before: dict[str, int] = {}
        """Bytes of the files that are read before each."""
        self.total = 0
        for log in logs:
            for path in log.files:
                self.before[str(path)] = self.total
                self.total += size_of(path)
        self.steps = 0

    def read(self, audited: Sequence[LogAudit], last: Applied) -> None:
        self.steps += 1
        if self.steps % STEPS:
            return
        now = time.monotonic()
        if now - self.said < SECONDS:
            return
        self.said = now
        share = (self.before[last.path] + last.position) / max(self.total, 1)
        records = sum(audit.history.read.records for audit in audited)
        flags = sum(len(audit.flags) for audit in audited)
        self.progress.records(RecordsDone(records, share, flags, now - self.started))
