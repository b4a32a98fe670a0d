"""Real logs that suffered: each damage is named at its offset, and everything before it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from elrcheck.kafka.log.segments import StoredBatch, read_segment
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CONTROL, LOST, START, TOPIC, audited, change, partition
from support.log_stories import SEGMENT
from support.log_writer import batch, batch_of, record_value, snapshot_footer, snapshot_header

RAW = (LOST / SEGMENT).read_bytes()
READ = [piece for piece in read_segment(LOST / SEGMENT, 0) if isinstance(piece, StoredBatch)]
ENDS = [*(piece.position for piece in READ[1:]), len(RAW)]
WHOLE = {piece.base_offset: RAW[piece.position : end] for piece, end in zip(READ, ENDS, strict=True)}
"""The batches of the log of a loss, by offset. It is flagged at 38 and, in a batch of 47 to 49, at 49."""
AT = {piece.base_offset: piece.position for piece in READ}
THREE = next(piece for piece in READ if piece.base_offset == 47)
VALUES = [record.value or b"" for record in THREE.records]


def until(offset: int) -> bytes:
    """The log below an offset."""
    return b"".join(raw for base, raw in WHOLE.items() if base < offset)


def since(offset: int) -> bytes:
    return b"".join(raw for base, raw in WHOLE.items() if base >= offset)


def around(offset: int, instead: bytes) -> dict[str, bytes]:
    """The log with something else in the place of a batch."""
    return {SEGMENT: until(offset) + instead + since(offset + 1)}


def flipped(offset: int, at: int) -> dict[str, bytes]:
    """A batch with one bit flipped."""
    raw = WHOLE[offset]
    return around(offset, raw[:at] + bytes([raw[at] ^ 0x20]) + raw[at + 1 :])


def three(order: Sequence[int]) -> dict[str, bytes]:
    """The batch of 47 to 49 with its records in this order, written anew with a true checksum."""
    time = THREE.records[0].time
    encoded = batch(47, [VALUES[n] for n in order], THREE.leader_epoch, time, deltas=order, last=2)
    return {SEGMENT: until(47) + encoded + since(50)}


def in_place_of(offset: int, value: bytes) -> dict[str, bytes]:
    """The log with another record in the place of one that does nothing, in a batch of its own."""
    return around(offset, batch(offset, [value], THREE.leader_epoch, THREE.records[0].time))


def snapshot(content: bytes) -> dict[str, bytes]:
    """A snapshot, and two records behind it."""
    moved = (change(replicas=[0, 1, 2]), change(isr=[0], leader=0, eligibleLeaderReplicas=[]))
    return {SNAPSHOT: content, f"{40:020}.log": batch_of(40, moved, 3)}


SNAPSHOT = f"{40:020}-0000000003.checkpoint"
GHOST = partition(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0])
HEAD = snapshot_header(0, 3, 5_000, 4_000) + batch_of(1, (*START[:-2], TOPIC, GHOST), 3)
MORE = batch_of(9, [partition(partitionId=1)], 3)
LATER, NEXT = f"{41:020}.log", f"{53:020}.log"
CHANGE, NO_OP = 5, record_value(("NO_OP_RECORD", 0, {}))
AFTER = AT[47] + len(WHOLE[47])
"""The byte behind the batch of 47 to 49."""


@dataclass(frozen=True)
class Planted:
    """A corruption, and what the audit has to say. damage: file, byte, offset and words, in order.

    flags: those behind the damage may be its consequence, as where the record of an election is gone.
    """

    files: Mapping[str, bytes]
    damage: tuple[tuple[str, int, int, str], ...]
    flags: tuple[int, ...] = (38, 49)


def one(files: Mapping[str, bytes], position: int, offset: int, words: str, **more: tuple[int, ...]) -> Planted:
    return Planted(files, ((SEGMENT, position, offset, words),), **more)


def lost(files: Mapping[str, bytes], words: str) -> Planted:
    """The batch at offset 44 cannot be read."""
    unread = (SEGMENT, AT[44], 44, words)
    start = next(n for n in range(AT[44] + 1, len(files[SEGMENT])) if files[SEGMENT][n:].startswith(WHOLE[45]))
    return Planted(files, (unread, (SEGMENT, start, 44, "offsets 44 to 44 are missing")))


PLANTED: Mapping[str, Planted] = {
    "a truncated batch": lost(around(44, WHOLE[44][:-9]), "the checksum of the batch is wrong"),
    "a batch cut in its header": lost(around(44, WHOLE[44][:30]), "bytes not read"),
    "a truncated segment, not the newest": Planted(
        {SEGMENT: until(41)[:-9], LATER: since(41)},
        ((SEGMENT, AT[40], 40, "the file ends within a batch"), (LATER, 0, 40, "offsets 40 to 40 are missing")),
    ),
    "a flipped bit in the checksum": lost(flipped(44, 18), "the checksum of the batch is wrong"),
    "a flipped bit in a record": lost(flipped(44, 70), "the checksum of the batch is wrong"),
    "a flipped bit in the attributes": lost(flipped(44, 22), "the checksum of the batch is wrong"),
    "a flipped bit in the magic": lost(flipped(44, 16), "the batch has an impossible header"),
    "a flipped bit in the length": lost(flipped(44, 10), "the batch claims"),
    "a leader epoch of the past": one(
        around(44, WHOLE[44][:12] + bytes(4) + WHOLE[44][16:]), AT[44], 44, "leader epoch 0 after 1"
    ),
    "a dropped record": one(
        three((0, 2)), AT[47], 48, "offsets 48 to 48 are missing in their batch", flags=(38, 47, 49)
    ),
    "the last record dropped": one(
        three((0, 1)), AT[47], 49, "offsets 49 to 49 are missing in their batch", flags=(38, 47, 54)
    ),
    "a repeated record": one(three((0, 1, 1, 2)), AT[47], 48, "offset 48 appears twice in its batch; not read"),
    "reordered records": one(three((0, 2, 1)), AT[47], 48, "offset 48 follows 49 in its batch"),
    "a dropped batch": one(around(44, b""), AT[44], 44, "offsets 44 to 44 are missing"),
    "a repeated batch": one(around(47, WHOLE[47] * 2), AFTER, 47, "offsets 47 to 49 again; not read"),
    "reordered batches": Planted(
        {SEGMENT: until(44) + WHOLE[45] + WHOLE[44] + since(46)},
        (
            (SEGMENT, AT[44], 44, "offsets 44 to 44 are missing"),
            (SEGMENT, AT[45], 44, "offsets 44 to 44 again; not read"),
        ),
    ),
    "a missing segment": Planted(
        {SEGMENT: until(41), NEXT: since(53)},
        ((NEXT, 0, 41, "offsets 41 to 52 are missing"),),
        flags=(38, 54, 54, 67, 67),
    ),
    "the first segment missing": Planted(
        {LATER: since(41)},
        (
            (LATER, 0, 0, "offsets 0 to 40 are missing, and no snapshot covers them"),
            (LATER, AT[43] - AT[41], 43, "changes, but was never created"),
            (LATER, AT[47] - AT[41], 47, "changes, but was never registered"),
            (LATER, AT[47] - AT[41], 48, "changes, but was never created"),
        ),
        flags=(),
    ),
    "a wrong base offset": one(flipped(44, 7), AT[44], 44, "the batch says offset 12; it is 44"),
    "a segment with the name of another offset": Planted(
        {SEGMENT: until(41), NEXT: since(41)},
        (
            (NEXT, 0, 41, "offsets 41 to 52 are missing"),
            (NEXT, 0, 41, "the file is named for offset 53; it starts at 41"),
        ),
    ),
    "a record that no table can read": one(
        in_place_of(44, bytes([1, CHANGE, 2, 0])), AT[44], 44, "PARTITION_CHANGE_RECORD of version 2"
    ),
    "an empty record": one(in_place_of(44, b""), AT[44], 44, "the record is empty"),
    "a snapshot cut in a batch": Planted(
        snapshot((HEAD + MORE)[:-9]), ((SNAPSHOT, len(HEAD), 9, "the file ends within a batch"),), flags=(39, 41)
    ),
    "a snapshot cut between batches": Planted(
        snapshot(HEAD), ((SNAPSHOT, len(HEAD), 9, "ends without its footer"),), flags=(39, 41)
    ),
    "zeros between": one(around(44, bytes(100) + WHOLE[44]), AT[44], 44, "100 bytes not read"),
    "noise between": one(around(44, b"\x02noise" * 30 + WHOLE[44]), AT[44], 44, "180 bytes not read"),
    "everything behind it lost": one(
        {SEGMENT: until(44) + WHOLE[44][:61] + b"\x02" * 500}, AT[44], 44, "is wrong", flags=(38,)
    ),
}


def places(report: AuditReport) -> list[tuple[str, int, int]]:
    return [(Path(each.path).name, each.position, each.offset) for each in report.damage]


def loud(report: AuditReport) -> tuple[int, ...]:
    return tuple(flag.offset for flag in report.flags if flag.severity != "low")


@pytest.mark.parametrize("corruption", list(PLANTED))
def test_damage_is_named_at_its_offset(tmp_path: Path, corruption: str) -> None:
    planted = PLANTED[corruption]
    for name, content in planted.files.items():
        (tmp_path / name).write_bytes(content)
    report = audited(tmp_path)
    assert places(report) == [each[:3] for each in planted.damage], report.damage
    for damage, (*_, words) in zip(report.damage, planted.damage, strict=True):
        assert words in damage.message
    assert loud(report) == planted.flags
    assert report.exit_code == (1 if planted.flags else 3) and audited(tmp_path, strict=True).exit_code == 2


@pytest.mark.parametrize("corruption", list(PLANTED))
def test_what_stands_before_it_is_judged(tmp_path: Path, corruption: str) -> None:
    """The log before the batch with the first damage has the flags of the sound log, and no others."""
    planted = PLANTED[corruption]
    name, position, offset, _ = planted.damage[0]
    for file, content in planted.files.items():
        (tmp_path / file).write_bytes(content)
    place = {SEGMENT: 0, LATER: 41, NEXT: 41, SNAPSHOT: 0}[name]
    start = next((base for base in AT if base >= place and AT[base] - AT[place] >= position), 77)
    start = start if offset else 0  # there is nothing before it
    sound = [(f.offset, f.message) for f in audited(LOST).flags if f.offset < start]
    before = [(f.offset, f.message) for f in audited(tmp_path).flags if f.offset < start]
    if name != SNAPSHOT:
        assert before == sound and (start < 41 or sound[0][0] == 38)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (bytes([1, 99, 0, 7]), "kind 99 of version 0"),
        (bytes([1, CHANGE, 9, 7]), "PARTITION_CHANGE_RECORD of version 9"),
    ],
)
def test_unknown_records_are_counted_and_the_first_one_named(tmp_path: Path, value: bytes, name: str) -> None:
    for file, content in in_place_of(44, value).items():
        (tmp_path / file).write_bytes(content)
    report = audited(tmp_path)
    assert report.damage == () and loud(report) == (38, 49) and report.records == 77
    (unread,) = [each for each in report.unread if not each.known]
    assert (unread.count, unread.offset, unread.path) == (1, 44, str(tmp_path / SEGMENT))
    assert f"{unread.name} of version {unread.version}" == name
    text = render(report, "text")
    assert name in text and "the first at offset 44" in text


def test_a_whole_snapshot_has_no_damage(tmp_path: Path) -> None:
    whole = HEAD + MORE + snapshot_footer(10, 3, 5_000)
    for name, content in snapshot(whole).items():
        (tmp_path / name).write_bytes(content)
    report = audited(tmp_path)
    assert report.damage == () and loud(report) == (39, 41)


def test_damage_without_a_flag_is_inconclusive(tmp_path: Path) -> None:
    raw = bytearray((CONTROL / SEGMENT).read_bytes())
    raw[-20] ^= 1
    (tmp_path / SEGMENT).write_bytes(raw)
    report = audited(tmp_path)
    assert report.flags == () and len(report.damage) == 1
    assert (report.verdict, report.exit_code) == ("inconclusive", 3)


def test_what_damage_leaves_is_judged(tmp_path: Path) -> None:
    raw = bytearray((LOST / SEGMENT).read_bytes())
    raw[-20] ^= 1
    (tmp_path / SEGMENT).write_bytes(raw)
    report = audited(tmp_path)
    assert [flag.offset for flag in report.flags] == [38, 49]
    (damage,) = report.damage
    assert damage.offset == 76 and "checksum" in damage.message
    assert audited(tmp_path, strict=True).exit_code == 2
    assert audited(LOST, strict=True).exit_code == 1
