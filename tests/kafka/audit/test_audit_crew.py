"""Judges that have a share of the partitions each find together what one finds."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Event, RecordsDone, Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.audit_crew import Crew
from elrcheck.kafka.audit.findings import LogFindings, add_share, report_of
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.entries import EVERY, Share, share_of, shares_of
from elrcheck.kafka.log.log_files import MetadataLog, logs_of, read_log
from elrcheck.kafka.log.metadata_records import name_of_partition
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CONTROL, LOST, audited
from support.cluster_restarts import Cluster, written_restarts
from support.log_stories import BY_KAFKA, T, U
from support.log_writer import record_value, varlong
from support.random_logs import written_at_random


def judged(log: MetadataLog, number: int, count: int) -> LogFindings:
    audit = LogAudit(log)
    for _ in audit.run(Share(number, count).of(read_log(log))):
        pass
    return audit.findings()


def by_shares(paths: Sequence[Path], count: int) -> AuditReport:
    """The same as by processes, in this one."""
    findings = []
    for log in logs_of(paths):
        whole = judged(log, EVERY, count)
        alone = whole.read.records, frozenset(whole.damage)
        for number in range(count):
            add_share(whole, judged(log, number, count), *alone)
        whole.sort()
        findings.append(whole)
    return report_of(findings, (), time.monotonic(), strict=False)


def plain(paths: Sequence[Path]) -> AuditReport:
    return replace(audited(*paths, near=False), seconds=0.0, timelines=())


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 5])
def test_shares_together_are_the_whole(tmp_path: Path, count: int) -> None:
    folders = [tmp_path / str(seed) for seed in range(4)]
    for seed, folder in enumerate(folders):
        written_at_random(folder, random.Random(seed))
    folders += [LOST, BY_KAFKA / "dump.txt", CONTROL, BY_KAFKA, written_restarts(tmp_path, Cluster(120), 900)]
    report = replace(by_shares(folders, count), seconds=0.0)
    assert report == plain(folders)
    assert len(report.flags) > 100 and len(report.damage) > 3


def test_the_share_of_a_record_is_that_of_its_topic() -> None:
    topics = [T, U]
    values = [record_value(("NO_OP_RECORD", 0, {}))]
    for topic in topics:
        fields = {"partitionId": 1, "topicId": topic}
        values.append(record_value(("PARTITION_CHANGE_RECORD", 2, fields | {"isr": [1]})))
        values.append(record_value(("PARTITION_RECORD", 0, fields)))
    long = b"\x81\x00" + values[1][1:]  # the same, with a frame version of two bytes
    too_new, cut = b"\x01\x05\x63" + values[1][3:], values[1][:20]
    shares = shares_of([*values, long, too_new, cut], 1 << 16)
    one, other = (share_of(name_of_partition(topic, 1)[4:], 1 << 16) for topic in topics)
    assert shares == [EVERY, one, one, other, other, one, EVERY, EVERY] and one != other
    assert varlong(0) == b"\0" and shares_of([], 2) == []


class Noted(Silent):
    def __init__(self) -> None:
        self.heard: list[RecordsDone] = []

    def tell(self, event: Event) -> None:
        assert isinstance(event, RecordsDone)
        self.heard.append(event)


def test_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elrcheck.kafka.audit.audit.SECONDS", 0.0)
    monkeypatch.setattr("elrcheck.kafka.audit.audit.STEPS", 1)
    written_at_random(tmp_path / "random", random.Random(1))
    paths = (LOST, tmp_path / "random", BY_KAFKA / "dump.txt", written_restarts(tmp_path, Cluster(120), 900))
    noted = Noted()
    report = run_audit(AuditRequest(paths, workers=2), noted)
    assert replace(report, seconds=0.0) == replace(audited(*paths), seconds=0.0)
    assert len(report.flags) > 30 and len(report.timelines) > 3
    assert noted.heard[-1].records == report.records and noted.heard[-1].flags > 0


def test_after_an_interruption_the_report_has_what_was_read(tmp_path: Path) -> None:
    path = written_restarts(tmp_path, Cluster(200), 3_000)
    (log,) = logs_of([path])
    seen: list[object] = []
    with Crew(2) as crew:
        report = crew.audit(log, read_log(log), lambda: len(seen) == 30, seen.append)
    assert 200 < report.read.records < 3_000 and report.partitions == 200
    assert report.read.last_offset == report.read.records - 1


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_dies_is_said(tmp_path: Path, stop: signal.Signals) -> None:
    (log,) = logs_of([written_restarts(tmp_path, Cluster(50), 200)])
    with pytest.raises(EnvironmentFault, match="a worker process ended"), Crew(2) as crew:
        victim = crew.workers[1].process
        os.kill(victim.pid or 0, stop)
        victim.join(10)
        crew.audit(log, read_log(log), lambda: False, lambda _: None)
    assert not any(worker.process.is_alive() for worker in crew.workers)


def test_a_file_that_cannot_be_read_ends_the_processes(tmp_path: Path) -> None:
    from elrcheck.base.errors import UsageFault

    path = written_restarts(tmp_path, Cluster(50), 200)
    logs = logs_of([path])
    path.unlink()
    ended: Callable[[], bool]
    with pytest.raises(UsageFault), Crew(1) as crew:
        crew.audit(logs[0], read_log(logs[0]), lambda: False, lambda _: None)
    ended = crew.workers[0].process.is_alive
    assert not ended()
