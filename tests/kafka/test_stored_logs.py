"""Metadata logs as Kafka stores them: segments, a snapshot, and logs of clusters that ran."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.log.binary import Malformed, unsigned_varint, varlong
from elrcheck.kafka.log.log_files import FOLDER, logs_of
from elrcheck.kafka.log.metadata_records import MetadataRecord, Unread, defaults_of, read_control, read_record
from elrcheck.kafka.log.record_table import BY_NAME, TYPES
from elrcheck.kafka.log.segments import StoredBatch, read_segment
from support.log_stories import (
    ALL_RECORDS,
    BY_KAFKA,
    NEXT_OFFSET,
    SEGMENT,
    SNAPSHOT,
    SNAPSHOT_RECORDS,
    TIME,
    written_by_kafka,
    written_here,
)
from support.log_writer import RecordFields, record_value
from support.places import TESTS

STORED = TESTS / "data" / "metadata_log"


def batches(path: Path) -> list[StoredBatch]:
    pieces = list(read_segment(path, 0))
    assert all(isinstance(piece, StoredBatch) for piece in pieces), pieces
    return [piece for piece in pieces if isinstance(piece, StoredBatch)]


@pytest.mark.parametrize("name", [SEGMENT, SNAPSHOT])
def test_a_log_that_kafka_wrote_has_what_was_told(name: str) -> None:
    read = batches(BY_KAFKA / name)
    steps_of = ALL_RECORDS if name == SEGMENT else SNAPSHOT_RECORDS
    records = [record for batch in read if not batch.control for record in batch.records]
    assert [record.offset for record in records] == list(range(1, 1 + len(steps_of)))
    for record, (kind, version, fields) in zip(records, steps_of, strict=True):
        decoded = read_record(record.value)
        assert isinstance(decoded, MetadataRecord) and (decoded.name, decoded.version) == (kind, version)
        assert _lists(decoded.fields) == _lists(defaults_of(BY_NAME[kind]) | dict(fields))
    assert {kind for kind, _, _ in ALL_RECORDS} == {kind.name for kind in TYPES}
    for kind in TYPES:
        assert {v for name, v, _ in ALL_RECORDS if name == kind.name} == set(range(kind.newest + 1))


def _lists(value: object) -> object:
    """The same with lists in place of tuples, and structs compared by what was told of them."""
    if isinstance(value, dict):
        return {key: _lists(each) for key, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, (tuple, list)) else value


def test_control_records_say_who_leads_and_when_a_snapshot_ends() -> None:
    first = batches(BY_KAFKA / SEGMENT)[0]
    assert first.control and first.leader_epoch == 1 and first.next_offset == 1
    (record,) = first.records
    change = read_control(record.key, record.value)
    assert change.fields is not None and (change.name, change.fields["leaderId"]) == ("LeaderChange", 100)
    assert record.time == TIME
    header, *_, footer = batches(BY_KAFKA / SNAPSHOT)
    decoded = read_control(header.records[0].key, header.records[0].value)
    assert decoded.fields is not None and decoded.fields["lastContainedLogTimestamp"] == TIME + 16
    assert read_control(footer.records[0].key, footer.records[0].value).name == "SnapshotFooter"
    assert read_control(b"\0\0\0\x63", b"").name == "control record 99"


@pytest.mark.parametrize(("folder", "records", "changes"), [("lost-4.1.1", 77, 7), ("control-4.1.1", 86, 8)])
def test_logs_of_real_controllers_are_read_to_the_end(folder: str, records: int, changes: int) -> None:
    counts: Counter[str] = Counter()
    for batch in batches(STORED / folder / SEGMENT):
        for record in batch.records:
            if batch.control:
                counts[read_control(record.key, record.value).name] += 1
            else:
                counts[read_record(record.value).name] += 1
    assert sum(counts.values()) == records
    assert counts["LeaderChange"] == 1 and counts["TOPIC_RECORD"] == 1 and counts["PARTITION_RECORD"] == 2
    assert counts["PARTITION_CHANGE_RECORD"] == changes


def test_what_the_tests_write_is_what_kafka_wrote() -> None:
    for name, content in written_here().items():
        assert (BY_KAFKA / name).read_bytes() == content
    assert batches(BY_KAFKA / SEGMENT)[-1].next_offset == NEXT_OFFSET


@pytest.mark.kafka
@pytest.mark.slow
def test_kafka_writes_the_stored_log() -> None:
    for name, content in written_by_kafka().items():
        assert (BY_KAFKA / name).read_bytes() == content


def test_unknown_kinds_and_versions_are_told_apart() -> None:
    assert read_record(b"\x01\x0e\x00rest") == Unread("CLIENT_QUOTA_RECORD", 0, known=True)
    assert read_record(b"\x01\x63\x02rest") == Unread("kind 99", 2, known=False)
    assert read_record(b"\x01\x03\x03rest") == Unread("PARTITION_RECORD", 3, known=False)


@pytest.mark.parametrize(
    "value", [None, b"", b"\x02\x03\x00", b"\x01", b"\x01\x02\x00\x02", b"\x01\x14\x00\x00\x00", b"\x80" * 9]
)
def test_a_malformed_record_is_refused(value: bytes | None) -> None:
    with pytest.raises(Malformed):
        read_record(value)


def test_a_tag_of_later_times_is_passed_over() -> None:
    value = record_value(("NO_OP_RECORD", 0, {}))
    read = read_record(value[:-1] + b"\x01\x07\x02xy")
    assert isinstance(read, MetadataRecord) and read.fields == {}
    with pytest.raises(Malformed):
        read_record(value[:-1] + b"\x01\x07\x03xy")


@given(st.binary(max_size=60), st.sampled_from(ALL_RECORDS), st.data())
def test_no_bytes_make_reading_fail_otherwise(noise: bytes, step: RecordFields, data: st.DataObject) -> None:
    value = bytearray(record_value(step))
    at = data.draw(st.integers(0, len(value)))
    for raw in (bytes(value[:at]) + noise, bytes(value[:at]) + noise + bytes(value[at + 1 :])):
        try:
            decoded = read_record(raw)
        except Malformed as fault:
            assert str(fault)
        else:
            assert decoded.name


@pytest.mark.parametrize(("raw", "value"), [(b"\0", 0), (b"\x01", -1), (b"\x02", 1), (b"\xac\x02", 150)])
def test_numbers_of_several_bytes(raw: bytes, value: int) -> None:
    assert varlong(raw, 0) == (value, len(raw))
    assert unsigned_varint(b"\xac\x02", 0) == (300, 2)
    for reader in (varlong, unsigned_varint):
        for wrong in (b"", b"\x80", b"\xff" * 12):
            with pytest.raises(Malformed):
                reader(wrong, 0)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, tmp_path / "missing", fifo):
        with pytest.raises(UsageFault) as caught:
            list(read_segment(path))
        assert caught.value.code == "log-unreadable" and caught.value.where == str(path)


def test_files_that_kafka_keeps_beside_a_log_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    name = SEGMENT.removesuffix(".log")
    others = ("leader-epoch-checkpoint", "partition.metadata", "quorum-state", "quorum-state.tmp")
    others += tuple(f"{name}{ending}" for ending in (".index", ".timeindex", ".snapshot", ".log.deleted"))
    for other in (*others, f"{5:020}-0000000001.checkpoint.part"):
        (folder / other).write_bytes(bytes(100))
    for other in ("meta.properties", "recovery-point-offset-checkpoint", ".lock"):
        (tmp_path / other).write_bytes(b"0\n0\n")
    (folder / SEGMENT).write_bytes((BY_KAFKA / SEGMENT).read_bytes())
    for names in (sorted(folder.iterdir()), sorted(tmp_path.iterdir()), [tmp_path / "*"], [folder / "*"]):
        assert [log.files for log in logs_of(names)] == [(str(folder / SEGMENT),)]
    alone = folder / "quorum-state"
    assert [log.files for log in logs_of([alone])] == [(str(alone),)], "a single file is read as whatever it is"


def test_the_folder_of_a_file_system_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, log = tmp_path / "lost+found", tmp_path / "kafka-log0" / FOLDER / SEGMENT
    lost.mkdir()
    log.parent.mkdir(parents=True)
    log.write_bytes((BY_KAFKA / SEGMENT).read_bytes())
    is_dir = Path.is_dir

    def only_of_root(path: Path) -> bool:
        if path.parent == lost:
            raise PermissionError(13, "Permission denied")
        return is_dir(path)

    monkeypatch.setattr(Path, "is_dir", only_of_root)
    assert [each.files for each in logs_of([tmp_path])] == [(str(log),)]


def test_a_file_with_another_name_names_its_log(tmp_path: Path) -> None:
    copy = tmp_path / "incident.log"
    copy.write_bytes((BY_KAFKA / SEGMENT).read_bytes())
    assert [log.name for log in logs_of([copy])] == [str(copy)], "no report tells the user to name the folder"
    assert [log.name for log in logs_of([BY_KAFKA / SEGMENT])] == [str(BY_KAFKA)]
