"""Audits of what is left of a log: its start or its files are gone, or brokers wrote it that no variant covers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit import audit
from elrcheck.kafka.log.segments import StoredBatch, read_segment
from elrcheck.report.formats import render
from support.audit_stories import LOST, TOPIC, audited, partition, written
from support.invoked import Invoke
from support.log_stories import BY_KAFKA, SEGMENT, broker

DUMP = BY_KAFKA / "dump.txt"


def test_a_log_without_its_first_records_does_not_say_that_elr_is_off(tmp_path: Path, invoke: Invoke) -> None:
    """A controller deletes them; a user copies the newest segment, and no snapshot."""
    whole = LOST / SEGMENT
    later = next(piece for piece in read_segment(whole) if isinstance(piece, StoredBatch) and piece.base_offset == 8)
    log = tmp_path / f"{8:020}.log"
    log.write_bytes(whole.read_bytes()[later.position :])
    report = audited(log)
    assert {"elr-outside-replicas", "ghost-elected"} <= {flag.rule for flag in report.flags}
    assert not {"elr-while-off", "switched-off-without-leader"} & {flag.rule for flag in report.flags}
    assert "Kafka 4.1, metadata.version not set, ELR unknown" in render(report, "text")
    assert "ELR on" in invoke("assess", "--log", str(log))[1], "as in new clusters of the release"
    assert "ELR off" in invoke("assess", "--log", str(log), "--elr", "off")[1]


class DeletesLater(Silent):
    """Deletes a folder before the second reading for near misses, as a controller deletes what a snapshot has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stage(self, text: str) -> None:
        if text == "looking for near misses":
            shutil.rmtree(self.folder)


def test_flags_survive_the_deletion_of_a_log_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(LOST, tmp_path / name / "__cluster_metadata-0"))

    def raised(*logs: Path, until: Path) -> list[tuple[str | None, bool]]:
        report = audit.run_audit(AuditRequest(logs), DeletesLater(until))
        assert {flag.rule for flag in report.flags} == {"elr-outside-replicas", "ghost-elected"}
        return [(Path(log.name).parent.name, log.near_misses is None) for log in report.logs]

    alone = copied("alone")
    assert raised(alone, until=alone) == [("alone", True)]
    first = copied("both/a").parent
    copied("both/b")
    assert raised(tmp_path / "both", until=first) == [("a", True), ("b", True)]
    alone, worst = copied("timelines"), audit.worst_partitions
    monkeypatch.setattr(audit, "worst_partitions", lambda findings: (shutil.rmtree(alone), worst(findings))[1])
    report = audit.run_audit(AuditRequest((alone,)), Silent())
    assert report.flags and not report.timelines


def test_an_empty_snapshot_is_not_called_text(tmp_path: Path) -> None:
    """A crash may leave one."""
    snapshot = tmp_path / f"{17:020}-0000000001.checkpoint"
    snapshot.touch()
    with pytest.raises(UsageFault) as caught:
        audited(snapshot)
    assert "the snapshot ends without its footer" in caught.value.message and caught.value.help is None
    snapshot.write_text("Topic: orders\n", encoding="utf-8")
    with pytest.raises(UsageFault, match="no record could be read") as caught:
        audited(snapshot)
    assert caught.value.help is not None and caught.value.help.startswith("this is text")


def test_flags_of_a_single_file_have_their_offsets(tmp_path: Path) -> None:
    """In a live cluster all were seen at one time; a dump is no live cluster."""
    copy = tmp_path / "incident.log"
    copy.write_bytes((LOST / SEGMENT).read_bytes())
    for path in (copy, DUMP):
        report = audited(path)
        assert f"offset {report.flags[0].offset}, {report.flags[0].time}" in render(report, "text")
        assert f"byte {report.flags[0].position} of {path}" in render(report, "junit")


@pytest.mark.parametrize(("level", "release"), [(19, ""), (20, ""), (21, "3.9"), (22, "4.0"), (25, "4.0")])
def test_brokers_older_than_the_oldest_line_are_not_named_after_it(
    level: int, release: str, tmp_path: Path, invoke: Invoke
) -> None:
    """The brokers of 3.8 support metadata.version 20 (MetadataVersion.IBP_3_8_IV0)."""
    versions = {"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": level}
    brokers = tuple(broker(2, number, features=[versions]) for number in range(3))
    feature = ("FEATURE_LEVEL_RECORD", 0, {"name": "metadata.version", "featureLevel": 19})
    log = written(tmp_path, (feature, *brokers, TOPIC, partition()))
    report = audited(log)
    assert report.logs[0].kafka == release
    named = f"Kafka {release}" if release else "release unknown"
    assert f"{named}, metadata.version 19, ELR off" in render(report, "text")
    assert invoke("assess", "--log", str(log))[0] == (1 if release else 2), "a user of 3.8 has to name a release"
