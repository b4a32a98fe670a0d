"""`elrcheck audit`: the history of every partition in metadata logs, and what is wrong with it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Progress, RecordsDone
from elrcheck.kafka.audit.findings import LogFindings, report_of
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.audit.near_misses import NearMissWatch, near_misses, watched
from elrcheck.kafka.audit.rules import Repairs
from elrcheck.kafka.audit.timelines import timelines_of, worst_partitions
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.log_files import MetadataLog, logs_of, read_log, size_of
from elrcheck.kafka.log.segments import unreadable
from elrcheck.results.audit_report import AuditReport, AuditTimeline

SECONDS = 0.5
"""Seconds between two reports of progress."""
STEPS = 256
"""Items between two looks at the clock."""
WORTH_PROCESSES = 1 << 26
"""Size of logs in bytes from which several processes are used, if their number is left open."""
MOST_WATCHED = 50_000
"""Records of logs that are read once more for near misses: two seconds."""
MOST_NEAR = 3
"""Near misses of a kind that the report has one by one."""
MANY_PROCESSORS = 4
"""With at least this many CPUs, one process reads and the others judge."""


def run_audit(request: AuditRequest, progress: Progress, *, near: bool = True) -> AuditReport:
    """Audit every log under the paths, or a cluster; raise UsageFault if there is nothing to read.

    After an interruption the report has what was read until then. near: count near misses too, if the logs are short.
    Timelines and near misses need another reading; the report goes without them if a controller has deleted a file
    since.
    """
    if request.bootstrap is not None:
        from elrcheck.kafka.audit.live_audit import audit_cluster

        return audit_cluster(request, progress)
    if request.engine == "spark":
        from elrcheck.kafka.audit.audit_on_spark import audit_on_spark

        return audit_on_spark(request, progress)
    started = time.monotonic()
    repairs = Repairs.of(request.repaired)
    logs = logs_of([_local(path) for path in request.paths])
    timelines: list[AuditTimeline] = []
    with Interrupts() as interrupted:
        meter = _RecordMeter(logs, progress, started)
        workers = _workers(request.workers, meter.total)
        if workers > 1:
            findings = _by_processes(logs, repairs, workers, meter, interrupted)
        else:
            findings = _by_one(logs, repairs, meter, interrupted)
        if not interrupted():
            for of_log, keys in worst_partitions(findings):
                with suppress(UsageFault):
                    timelines += timelines_of(of_log, keys, read_log(of_log.log, interrupted))
        watches: list[NearMissWatch] = []
        if near and sum(each.read.records for each in findings) <= MOST_WATCHED and not interrupted():
            progress.stage("looking for near misses")
            with suppress(UsageFault):
                watches = watched(request.paths, interrupted)
        stopped = interrupted()
    report = report_of(findings, timelines, started, strict=request.strict, interrupted=stopped, repairs=repairs)
    return report if stopped or not watches else _with_near_misses(report, watches)


def _with_near_misses(report: AuditReport, watches: Sequence[NearMissWatch]) -> AuditReport:
    """Return the report with the near misses of each log; without any if one of the logs is gone."""
    of_log = {watch.log: watch for watch in watches}
    if any(log.name not in of_log for log in report.logs):
        return report
    logs = tuple(
        structs.replace(
            log,
            near_misses=near_misses([of_log[log.name]], MOST_NEAR),
            near_together=tuple(of_log[log.name].together()),
        )
        for log in report.logs
    )
    return structs.replace(report, logs=logs)


def _workers(requested: int | None, size: int) -> int:
    """Return the number of processes. Each learns the harmless changes anew, so two are no faster than one."""
    if requested is not None:
        return requested
    processors = os.cpu_count() or 1
    return processors - 1 if size >= WORTH_PROCESSES and processors >= MANY_PROCESSORS else 1


def _by_one(
    logs: Sequence[MetadataLog], repairs: Repairs, meter: _RecordMeter, interrupted: Interrupts
) -> list[LogFindings]:
    """Return the findings of this process in the logs, one after the other."""
    findings: list[LogFindings] = []
    for number, log in enumerate(logs, 1):
        meter.log(number, log)
        audit = LogAudit(log, repairs)
        for last in audit.run(read_log(log, interrupted)):
            meter.read(last, audit.history.read.records, len(audit.flags.raised))
            if interrupted():
                break
        findings.append(audit.findings())
        meter.end(findings)
        if interrupted():
            break
    return findings


def _by_processes(
    logs: Sequence[MetadataLog], repairs: Repairs, workers: int, meter: _RecordMeter, interrupted: Interrupts
) -> list[LogFindings]:
    """Return the findings of several processes, each for its share of the partitions."""
    from elrcheck.kafka.audit.audit_crew import Crew

    findings: list[LogFindings] = []
    with Crew(workers, repairs) as crew:
        for number, log in enumerate(logs, 1):
            meter.log(number, log)
            records = 0

            def read(item: Item) -> None:
                nonlocal records
                if isinstance(item, LogEntry | RecordRun):
                    records += 1 if isinstance(item, LogEntry) else len(item.values)
                    meter.read(item, records, crew.flags)

            findings.append(crew.audit(log, read_log(log, interrupted), interrupted, read))
            meter.end(findings)
            if interrupted():
                break
    return findings


def _local(path: Path | str) -> Path:
    if isinstance(path, Path):
        return path
    help = "use --engine spark, or copy the files to this machine"
    raise unreadable(path, "this is not a path on this machine", help)


class _RecordMeter:
    """Reports the progress of the audit, at most twice a second."""

    def __init__(self, logs: Sequence[MetadataLog], progress: Progress, started: float) -> None:
        self.count = len(logs)
        self.records = self.flags = 0
        """Of the logs before."""
        self.progress = progress
        self.started = self.reported_at = started
        self.before: dict[str, int] = {}
        """Bytes of the files that are read before each."""
        self.total = 0
        for log in logs:
            for path in log.files:
                self.before[path] = self.total
                self.total += size_of(path)
        self.steps = 0

    def log(self, number: int, log: MetadataLog) -> None:
        self.progress.stage(f"[{number}/{self.count}] {log.name}")

    def end(self, findings: Sequence[LogFindings]) -> None:
        """Count the findings of the logs that have been read."""
        self.records = sum(each.read.records for each in findings)
        self.flags = sum(len(each.flags) for each in findings)

    def read(self, last: Applied | LogEntry | RecordRun, records: int, flags: int) -> None:
        """Report how much of this log has been read, at most twice a second."""
        self.steps += 1
        if self.steps % STEPS:
            return
        now = time.monotonic()
        if now - self.reported_at < SECONDS:
            return
        self.reported_at = now
        share = (self.before[last.path] + last.position) / max(self.total, 1)
        done = RecordsDone(self.records + records, share, self.flags + flags, now - self.started)
        self.progress.tell(done)
