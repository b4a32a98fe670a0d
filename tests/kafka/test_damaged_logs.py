"""Segments that suffered: every damage is named with its place, and reading continues behind it."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from elrcheck.kafka.log.segments import CutOff, Damage, SegmentPiece, StoredBatch, read_segment
from support.log_stories import BY_KAFKA, SEGMENT
from support.log_writer import batch, record_value
from support.places import TESTS

LOG = TESTS / "data" / "metadata_log" / "lost-4.1.1" / SEGMENT
NO_OP = record_value(("NO_OP_RECORD", 0, {}))
HUGE = 1 << 20


def of(tmp_path: Path, *parts: bytes) -> list[SegmentPiece]:
    path = tmp_path / SEGMENT
    path.write_bytes(b"".join(parts))
    return list(read_segment(path, 0))


def bases(pieces: list[SegmentPiece]) -> list[int]:
    return [piece.base_offset for piece in pieces if isinstance(piece, StoredBatch)]


def damage(pieces: list[SegmentPiece]) -> list[tuple[int, int, str]]:
    return [(each.position, each.offset, each.message) for each in pieces if isinstance(each, Damage)]


def one(base: int, epoch: int = 1) -> bytes:
    return batch(base, [NO_OP], epoch)


SIZE = len(one(0))
FOUR = [one(base) for base in range(4)]


def test_an_undamaged_file_has_no_damage(tmp_path: Path) -> None:
    pieces = of(tmp_path, *FOUR)
    assert bases(pieces) == [0, 1, 2, 3] and damage(pieces) == []
    assert of(tmp_path) == []


@pytest.mark.parametrize("byte", [17, 21, 23, 40, 57, 61, SIZE - 1])
def test_a_flipped_byte_costs_one_batch(tmp_path: Path, byte: int) -> None:
    second = bytearray(FOUR[1])
    second[byte] ^= 0x10
    pieces = of(tmp_path, FOUR[0], bytes(second), *FOUR[2:])
    assert bases(pieces) == [0, 2, 3]
    first, missing = damage(pieces)
    assert first[:2] == (SIZE, 1) and f"{SIZE} bytes not read" in first[2]
    assert "checksum" in first[2] or "header" in first[2]
    assert missing == (2 * SIZE, 1, "offsets 1 to 1 are missing")


@pytest.mark.parametrize("length", [0, 1, 48, 2**31 - 1, -5, SIZE - 11])
def test_a_wrong_length_costs_one_batch(tmp_path: Path, length: int) -> None:
    second = FOUR[1][:8] + struct.pack(">i", length) + FOUR[1][12:]
    pieces = of(tmp_path, FOUR[0], second, *FOUR[2:])
    assert bases(pieces) == [0, 2, 3]
    assert damage(pieces)[0][:2] == (SIZE, 1)


@pytest.mark.parametrize("wrong", [0, 7, 2**40, -1])
def test_an_offset_without_checksum_is_corrected(tmp_path: Path, wrong: int) -> None:
    """The checksum of a batch does not cover its offset; the next batch proves what it was."""
    pieces = of(tmp_path, FOUR[0], struct.pack(">q", wrong) + FOUR[1][8:], *FOUR[2:])
    if wrong < 0:  # no offset at all
        assert bases(pieces) == [0, 2, 3]
    else:
        assert bases(pieces) == [0, 1, 2, 3]
        assert damage(pieces) == [(SIZE, 1, f"the batch says offset {wrong}; it is 1")]
        assert [piece.records[0].offset for piece in pieces if isinstance(piece, StoredBatch)] == [0, 1, 2, 3]


def test_a_missing_batch_is_noticed(tmp_path: Path) -> None:
    pieces = of(tmp_path, FOUR[0], *FOUR[2:])
    assert bases(pieces) == [0, 2, 3]
    assert damage(pieces) == [(SIZE, 1, "offsets 1 to 1 are missing")]


def test_a_repeated_batch_is_read_once(tmp_path: Path) -> None:
    pieces = of(tmp_path, FOUR[0], FOUR[1], FOUR[1], *FOUR[2:])
    assert bases(pieces) == [0, 1, 2, 3]
    assert damage(pieces) == [(2 * SIZE, 1, "offsets 1 to 1 again; not read")]


def test_batches_in_another_order_are_noticed(tmp_path: Path) -> None:
    pieces = of(tmp_path, FOUR[0], FOUR[2], FOUR[1], FOUR[3])
    assert bases(pieces) == [0, 2, 3]
    assert [each[:2] for each in damage(pieces)] == [(SIZE, 1), (2 * SIZE, 1)]


def test_garbage_between_batches_is_passed_over(tmp_path: Path) -> None:
    noise = random.Random(5).randbytes(3 * HUGE)
    pieces = of(tmp_path, FOUR[0], noise, *FOUR[1:])
    assert bases(pieces) == [0, 1, 2, 3]
    (damaged,) = damage(pieces)
    assert damaged[:2] == (SIZE, 1) and f"{len(noise)} bytes not read" in damaged[2]


def test_a_file_of_something_else_has_no_batches(tmp_path: Path) -> None:
    noise = random.Random(6).randbytes(4000)
    pieces = of(tmp_path, b"\x7f" * 12 + noise)
    assert bases(pieces) == [] and len(pieces) == 1


def test_an_older_leader_epoch_is_noticed(tmp_path: Path) -> None:
    pieces = of(tmp_path, one(0, 3), one(1, 2), one(2, 3))
    assert bases(pieces) == [0, 1, 2]
    assert damage(pieces) == [(SIZE, 1, "leader epoch 2 after 3")]


@pytest.mark.parametrize("left", [1, 8, 11, 12, 60, 61, SIZE - 1])
def test_the_end_of_an_active_segment_may_be_incomplete(tmp_path: Path, left: int) -> None:
    pieces = of(tmp_path, *FOUR[:2], FOUR[2][:left])
    assert bases(pieces) == [0, 1] and damage(pieces) == []
    assert pieces[-1] == CutOff(str(tmp_path / SEGMENT), 2 * SIZE, 2, left)


def test_zeros_at_the_end_were_never_written(tmp_path: Path) -> None:
    pieces = of(tmp_path, *FOUR[:2], bytes(300))
    assert damage(pieces) == [] and isinstance(pieces[-1], CutOff)


def test_a_wrong_checksum_in_the_last_batch_is_damage(tmp_path: Path) -> None:
    pieces = of(tmp_path, *FOUR[:3], FOUR[3][:-1] + b"\x09")
    assert bases(pieces) == [0, 1, 2]
    message = f"the checksum of the last batch is wrong; {SIZE} bytes not read"
    assert damage(pieces) == [(3 * SIZE, 3, message)]


def test_a_compressed_batch_is_named(tmp_path: Path) -> None:
    """Bytes 21 and 22 are the attributes; the checksum is made after them."""
    zipped = batch(1, [NO_OP], attributes=4)
    pieces = of(tmp_path, FOUR[0], zipped, *FOUR[2:])
    (damaged,) = damage(pieces)
    assert damaged[:2] == (SIZE, 1) and "compressed (zstd)" in damaged[2]
    assert bases(pieces) == [0, 1, 2, 3]


def test_records_of_a_batch_are_read_up_to_the_malformed_one(tmp_path: Path) -> None:
    wide = batch(0, [NO_OP, NO_OP, NO_OP], count=9)
    pieces = of(tmp_path, wide)
    first = pieces[0]
    assert isinstance(first, StoredBatch) and [record.offset for record in first.records] == [0, 1, 2]
    (damaged,) = damage(pieces)
    assert damaged[:2] == (0, 3) and "record 3 of the batch cannot be read" in damaged[2]
    few = of(tmp_path, batch(0, [NO_OP, NO_OP, NO_OP], count=2))
    assert "bytes after the last record" in damage(few)[0][2]


def test_any_damage_to_a_real_log_is_survived(tmp_path: Path) -> None:
    """Whatever is done to it, what stands before it is read, and something is said unless it is the end."""
    whole = LOG.read_bytes()
    starts = [piece for piece in read_segment(LOG, 0) if isinstance(piece, StoredBatch)]
    chance = random.Random(11)
    for _ in range(60):
        raw = bytearray(whole)
        at = chance.randrange(len(raw))
        match chance.randrange(4):
            case 0:
                raw[at] ^= 1 << chance.randrange(8)
            case 1:
                del raw[at : at + chance.randrange(1, 200)]
            case 2:
                raw[at:at] = chance.randbytes(chance.randrange(1, 200))
            case _:
                raw[at : at + 40] = bytes(40)
        if raw == whole:
            continue
        pieces = of(tmp_path, bytes(raw))
        before = [batch for batch in starts if batch.position + 61 <= at]
        assert [piece for piece in pieces if isinstance(piece, StoredBatch)][: len(before) - 1] == before[:-1]
        cut = any(isinstance(piece, CutOff) for piece in pieces)
        epoch = any(batch.position + 12 <= at < batch.position + 16 for batch in starts)  # has no checksum
        assert damage(pieces) or cut or epoch, at


def test_the_made_log_has_no_damage() -> None:
    assert all(isinstance(piece, StoredBatch) for piece in read_segment(BY_KAFKA / SEGMENT, 0))
