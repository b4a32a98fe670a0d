"""The text of the dump tool against the files it was made from, and text that is cut off or changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.log.dump_text import is_dump
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun, SnapshotStart, read_entries
from elrcheck.kafka.log.log_files import FOLDER, logs_of, read_log
from elrcheck.kafka.log.metadata_records import ControlRecord, Unread
from elrcheck.kafka.log.record_table import SNAPSHOT_FOOTER
from elrcheck.kafka.log.segments import CutOff, Damage
from support.edits import replaced
from support.log_stories import BY_KAFKA, SEGMENT, SNAPSHOT, SNAPSHOT_RECORDS
from support.log_writer import RecordFields, batch_of, snapshot_footer
from support.places import TESTS

STORED = TESTS / "data" / "metadata_log"
DUMP = STORED / "made" / "dump.txt"
TEXT = DUMP.read_text(encoding="utf-8")
LAST = '{"type":"NO_OP_RECORD","version":0,"data":{}}'
NO_OP: RecordFields = ("NO_OP_RECORD", 0, {})


def read(*paths: Path) -> list[Item]:
    return list(one_by_one(item for log in logs_of(paths) for item in read_log(log)))


def one_by_one(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with the records of each run."""
    for item in items:
        if not isinstance(item, RecordRun):
            yield item
            continue
        for number in range(len(item.values)):
            record = item.item(number)
            assert isinstance(record, LogEntry)
            yield record._replace(ends_batch=item.ends_batch and number == len(item.values) - 1)


def text(tmp_path: Path, content: str) -> list[Item]:
    path = tmp_path / "any.name"
    path.write_text(content, encoding="utf-8")
    return read(path)


def offsets(items: list[Item]) -> list[int]:
    """Those of the records; the footers of snapshots are none of the log."""
    return [
        item.offset
        for item in items
        if isinstance(item, LogEntry) and getattr(item.record, "name", "") != SNAPSHOT_FOOTER.name
    ]


def damage(items: list[Item]) -> list[Damage]:
    return [item for item in items if isinstance(item, Damage)]


def test_a_dump_has_the_records_of_its_file() -> None:
    """Kafka's tool printed segment and snapshot one after the other."""
    document = read(DUMP)
    split = next(number for number, item in enumerate(document) if isinstance(item, SnapshotStart))
    for part, name in ((document[:split], SEGMENT), (document[split + 1 :], SNAPSHOT)):
        stored = list(one_by_one(read_entries(BY_KAFKA / name, 0)))
        assert len(part) == len(stored) > len(SNAPSHOT_RECORDS)
        for one, other in zip(part, stored, strict=True):
            assert isinstance(one, LogEntry) and isinstance(other, LogEntry)
            assert (one.offset, one.time, one.ends_batch) == (other.offset, other.time, other.ends_batch)
            if isinstance(other.record, ControlRecord):
                assert isinstance(one.record, ControlRecord) and one.record.name == other.record.name
            else:
                assert one.record == other.record
    assert document[split] == SnapshotStart(str(DUMP), 17)


def test_text_is_told_from_binary_files(tmp_path: Path) -> None:
    assert is_dump(DUMP) and not is_dump(BY_KAFKA / SEGMENT) and not is_dump(tmp_path / "missing")
    noisy = tmp_path / "noisy.log"
    noisy.write_text(f"[WARN] the script says so\n{TEXT}", encoding="utf-8")
    assert is_dump(noisy) and offsets(read(noisy)) == offsets(read(DUMP))


def test_records_without_their_metadata_have_the_offsets_of_the_batch(tmp_path: Path) -> None:
    """As --skip-record-metadata prints them."""
    short = re.sub(r"\| offset: .* (payload: )", r"|  \1", TEXT)
    short = re.sub(r"\| offset: .*", "", short)
    both = ([item for item in items if isinstance(item, LogEntry)] for items in (read(DUMP), text(tmp_path, short)))
    every, bare = both
    plain = [item for item in every if not isinstance(item.record, ControlRecord)]
    assert [(item.offset, item.record) for item in bare] == [(item.offset, item.record) for item in plain]


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ('"leader":2}', '"leader":"two"}', "leader is not of type int32"),
        ('"leader":2}', '"leader":2147483648}', "leader is not of type int32"),
        ('"partitionId":0,"topicId"', '"topicId"', "PARTITION_RECORD without partitionId"),
        ('"isr":[0,2]', '"isr":{}', "isr is not a list"),
        ('"name":"orders"', '"name":null', "name is not of type string"),
        ('"fenced":true', '"fenced":1', "fenced is not of type bool"),
        ('"endPoints":[{', '"endPoints":[7,{', "endPoints is not of type struct"),
        ('"type":"NO_OP_RECORD",', "", "the record has no type and data"),
        ('_OP_RECORD","version":0', '_OP_RECORD","version":-1', "the record has no version"),
        ('payload: {"type":"NO_OP', "payload: [", "the record is not JSON; the line may be cut off"),
        (f"payload: {LAST}", "payload: 7", "the record is not a JSON object"),
        (
            f"payload: {LAST}",
            "payload: Error at 33, skipping. x",
            "the dump tool could not read the record: Error at 33, skipping. x",
        ),
    ],
)
def test_a_changed_record_is_named_and_the_others_read(tmp_path: Path, wrong: str, right: str, message: str) -> None:
    assert wrong in TEXT
    items = text(tmp_path, replaced(TEXT, wrong, right, 1))
    (damaged,) = damage(items)
    assert damaged.message == message
    assert len(offsets(items)) == len(offsets(read(DUMP))) - 1
    line = replaced(TEXT, wrong, right, 1).encode()[damaged.position :].split(b"\n")[0].decode()
    assert line.startswith(f"| offset: {damaged.offset} ")


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    items = text(tmp_path, replaced(TEXT, '"NO_OP_RECORD","version":0', '"NO_OP_RECORD","version":9', 1))
    assert [item.record for item in items if isinstance(item, LogEntry) and isinstance(item.record, Unread)] == [
        Unread("NO_OP_RECORD", 9, known=False)
    ]


def test_a_dump_says_what_the_tool_found_wrong(tmp_path: Path) -> None:
    lines = TEXT.splitlines(keepends=True)
    batches = [number for number, line in enumerate(lines) if line.startswith("baseOffset: ")]
    invalid = [*lines]
    invalid[batches[1]] = replaced(lines[batches[1]], "isvalid: true", "isvalid: false")
    first, missing = damage(text(tmp_path, "".join(invalid)))
    assert (first.offset, missing.offset) == (1, 1) and "checksum" in first.message
    without = lines[: batches[1]] + lines[batches[2] :]
    (damaged,) = damage(text(tmp_path, "".join(without)))
    assert damaged.message == "offsets 1 to 5 are missing"
    twice = lines[: batches[2]] + lines[batches[1] :]
    (again,) = damage(text(tmp_path, "".join(twice)))
    assert again.message == "offsets 1 to 5 again; not read"
    cut = text(tmp_path, f"{TEXT}Found 17 invalid bytes at the end of 0.log\n")
    assert isinstance(cut[-1], CutOff) and cut[-1].bytes_left == 17
    path = tmp_path / "latin"
    path.write_bytes(replaced(TEXT.encode(), "ä".encode(), b"\xe4"))
    assert {damaged.message for damaged in damage(read(path))} == {"the line is not UTF-8"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_dump_that_powershell_has_redirected(tmp_path: Path, encoding: str) -> None:
    """Windows PowerShell writes UTF-16, or UTF-8 with a mark, and ends lines as Windows does."""
    path = tmp_path / "dump.txt"
    first = TEXT[TEXT.index("baseOffset") :].replace("\n", "\r\n")  # no line before the first batch
    path.write_bytes(first.encode(encoding))
    assert is_dump(path) and offsets(read(path)) == offsets(read(DUMP)) and damage(read(path)) == []
    path.write_bytes(first.replace("b0.example", "b0.\ud800", 1).encode(encoding, "surrogatepass"))
    (damaged,) = damage(read(path))
    assert damaged.message == f"the line is not {encoding[:6].upper().removesuffix('-')}"
    rest = path.read_bytes()[damaged.position :].decode(encoding.removesuffix("-sig"), "replace")
    assert rest.startswith("| offset: 6 ")


def test_a_dump_that_is_in_a_text_twice_is_read_once(tmp_path: Path) -> None:
    segment, snapshot_text = TEXT[: TEXT.index("Dumping", 1)], TEXT[TEXT.index("Dumping", 1) :]
    twice = text(tmp_path, segment + segment)
    assert offsets(twice) == offsets(text(tmp_path, segment))
    (again,) = damage(text(tmp_path, segment + segment))
    last = offsets(twice)[-1]
    assert (again.offset, again.message) == (0, f"offsets 0 to {last} again; not read")
    assert (tmp_path / "any.name").read_bytes()[again.position :].startswith(b"baseOffset: 0 ")
    end = int(SNAPSHOT[:20])
    after_snapshot = text(tmp_path, snapshot_text + segment)
    assert [one.message for one in damage(after_snapshot)] == [f"offsets 0 to {end - 1} again; not read"]
    assert offsets(after_snapshot)[-1 - last + end :] == list(range(end, last + 1))


# ---------------------------------------------------------------------------- which files are a log


def log(folder: Path, *parts: tuple[int, int]) -> None:
    """Segments that start at the first number and have so many records."""
    folder.mkdir(parents=True, exist_ok=True)
    for base, count in parts:
        content = b"".join(batch_of(base + number, [NO_OP]) for number in range(count))
        (folder / f"{base:020}.log").write_bytes(content)


def snapshot(folder: Path, end: int) -> None:
    content = batch_of(0, [NO_OP]) + snapshot_footer(1, 1, 1_000)
    (folder / f"{end:020}-0000000001.checkpoint").write_bytes(content)


def test_segments_are_read_in_order_and_once(tmp_path: Path) -> None:
    log(tmp_path / FOLDER, (0, 3), (3, 2), (5, 0))
    (tmp_path / FOLDER / f"{7:020}.log.deleted").write_bytes(b"old")
    assert offsets(read(tmp_path)) == [0, 1, 2, 3, 4]
    files = [tmp_path / FOLDER / f"{base:020}.log" for base in (3, 0)]
    assert offsets(read(*files, files[0])) == [0, 1, 2, 3, 4]
    assert damage(read(tmp_path)) == []


def test_a_snapshot_replaces_segments_that_were_deleted(tmp_path: Path) -> None:
    log(tmp_path, (4, 4))
    for end in (2, 6, 8):
        snapshot(tmp_path, end)
    items = read(tmp_path)
    assert items[0] == SnapshotStart(str(tmp_path / f"{6:020}-0000000001.checkpoint"), 6)
    assert offsets(items) == [0, 6, 7] and damage(items) == []


def test_a_complete_log_needs_no_snapshot(tmp_path: Path) -> None:
    log(tmp_path, (0, 4))
    snapshot(tmp_path, 2)
    assert offsets(read(tmp_path)) == [0, 1, 2, 3]
    snapshot(tmp_path, 0)
    assert offsets(read(tmp_path)) == [0, 0, 1, 2, 3]


def test_what_is_missing_between_files_is_named(tmp_path: Path) -> None:
    log(tmp_path, (4, 2), (8, 1))
    assert [(damaged.offset, damaged.message) for damaged in damage(read(tmp_path))] == [
        (0, "offsets 0 to 3 are missing, and no snapshot covers them"),
        (6, "offsets 6 to 7 are missing"),
    ]
    snapshot(tmp_path, 2)
    assert [damaged.message for damaged in damage(read(tmp_path))] == [
        "offsets 2 to 3 are missing",
        "offsets 6 to 7 are missing",
    ]


def test_a_start_that_is_missing_is_named_whatever_the_file_is_called(tmp_path: Path) -> None:
    message = "offsets 0 to 3 are missing, and no snapshot covers them"
    copy = tmp_path / "incident.log"
    copy.write_bytes(batch_of(4, [NO_OP, NO_OP]))
    assert [(each.offset, each.message) for each in damage(read(copy))] == [(0, message)]
    assert offsets(read(copy)) == [4, 5]
    copy.write_bytes(batch_of(0, [NO_OP, NO_OP]))
    assert damage(read(copy)) == []


def test_a_dump_of_a_later_segment_lacks_its_start(tmp_path: Path) -> None:
    """kafka-dump-log.sh --files 00000000000000000006.log, without or with the snapshot before it."""
    segment, snapshot_text = TEXT[: TEXT.index("Dumping", 1)], TEXT[TEXT.index("Dumping", 1) :]
    later = f"Dumping {6:020}.log\nLog starting offset: 6\n{segment[segment.index('baseOffset: 6 ') :]}"
    (lacking,) = damage(text(tmp_path, later))
    assert (lacking.offset, lacking.message) == (0, "offsets 0 to 5 are missing, and no snapshot covers them")
    for end, missing in ((6, []), (4, ["offsets 4 to 5 are missing"])):
        before = replaced(snapshot_text, f"Snapshot end offset: {int(SNAPSHOT[:20])},", f"Snapshot end offset: {end},")
        assert [each.message for each in damage(text(tmp_path, f"{before}{later}"))] == missing


def test_only_the_newest_segment_may_end_in_a_batch(tmp_path: Path) -> None:
    log(tmp_path, (0, 2), (2, 2))
    for name in (f"{2:020}.log", f"{0:020}.log"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:-3])
    items = read(tmp_path)
    assert [damaged.message.split(";")[0] for damaged in damage(items)] == [
        "the file ends within a batch",
        "offsets 1 to 1 are missing",
    ]
    assert isinstance(items[-1], CutOff)


def test_folders_without_a_log_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageFault) as caught:
            logs_of([path])
        assert caught.value.code == "log-unreadable" and FOLDER in str(caught.value.help)
