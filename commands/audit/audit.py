"""`elrcheck audit`: the history of every partition in metadata logs, and what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import Progress, RecordsDone
from elrcheck.base.requests import AuditRequest
from elrcheck.commands.audit.findings import report_of
from elrcheck.commands.audit.log_audit import LogAudit
from elrcheck.commands.audit.timelines import timelines_of, worst_partitions
from elrcheck.kafka.log.entries import Run
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.log_files import MetadataLog, logs_of, read_log, size_of
from elrcheck.results.audit_report import AuditReport, AuditTimeline

SECONDS = 0.5
"""Between two looks at the clock's progress."""
STEPS = 256
"""Between two looks at the clock."""


def run_audit(request: AuditRequest, progress: Progress) -> AuditReport:
    """Audit every log that the paths make, or a cluster; raises UsageFault if there is nothing to read.

    After an interruption the report has what was read until then.
    """
    if request.bootstrap is not None:
        from elrcheck.commands.audit.live_audit import audit_cluster

        return audit_cluster(request, progress)
    if request.engine == "spark":
        from elrcheck.commands.audit.audit_on_spark import audit_on_spark

        return audit_on_spark(request, progress)
    started = time.monotonic()
    logs = logs_of([_local(path) for path in request.paths])
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
        findings = [audit.findings() for audit in audited]
        if not interrupted():
            for found, keys in worst_partitions(findings):
                timelines += timelines_of(found, keys, read_log(found.log))
        stopped = interrupted()
    return report_of(findings, timelines, started, strict=request.strict, interrupted=stopped)


def _local(path: Path | str) -> Path:
    if isinstance(path, Path):
        return path
    help = "use --engine spark, or copy the files to this machine"
    raise UsageFault("log-unreadable", "this is no path of this machine", where=path, help=help)


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
                self.before[path] = self.total
                self.total += size_of(path)
        self.steps = 0

    def read(self, audited: Sequence[LogAudit], last: Applied | Run) -> None:
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
