"""Logs that were made to be slow to read: the bytes read stay within a multiple of the file's size."""

from __future__ import annotations

import io
import random
import re
import struct
import time
from pathlib import Path

import google_crc32c
import numpy as np
import pytest

from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit import audit
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.log.batches import BEFORE_LENGTH, HEADER, checksum_holds, head_of
from elrcheck.kafka.log.dump_text import BATCH
from elrcheck.kafka.log.next_batch import RangeSums, next_sound
from elrcheck.kafka.log.segments import Damage, SegmentPiece, StoredBatch, read_pieces
from support.audit_stories import CONTROL
from support.log_stories import SEGMENT
from support.log_writer import batch, record_value

NO_OP = record_value(("NO_OP_RECORD", 0, {}))
MOST_TIMES = 160
"""Bytes read for each byte of a file of any size: the smallest batches between damage cost four looks each,
of 4 KiB."""


class Counted(io.BytesIO):
    """A file that counts what is read from it."""

    bytes_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.bytes_read += len(data)
        return data


def pieces_of(content: bytes) -> tuple[list[SegmentPiece], float]:
    """What is read, and how many bytes were read for each byte of the file."""
    file = Counted(content)
    return list(read_pieces("a.log", file, len(content), 0)), file.bytes_read / len(content)


def false_header(base: int, size: int) -> bytes:
    """A possible header of a plain batch of that many bytes, with a wrong checksum."""
    return HEADER.pack(base, size - BEFORE_LENGTH, 1, 2, 0xBAD, 0, 0, 0, 0, -1, -1, -1, 1)


def test_headers_that_each_claim_the_rest() -> None:
    size = 300_000
    content = b"".join(false_header(1, size - at) for at in range(0, size - 61, 61))
    for start in (b"", batch(0, [NO_OP])):
        pieces, times = pieces_of(start + content)
        assert times < MOST_TIMES
        assert not [piece for piece in pieces if isinstance(piece, StoredBatch) and piece.base_offset]


def test_headers_that_overlap() -> None:
    row = bytearray(100_000)
    for at in range(16, len(row), 20):
        row[at] = 2  # a magic; the bytes before are a base offset and a length
    for at in range(0, len(row) - 80, 20):
        row[at + 8 : at + 12] = struct.pack(">i", len(row) - at - 30)
    pieces, times = pieces_of(batch(0, [NO_OP]) + bytes(row) + batch(1, [NO_OP]))
    assert times < MOST_TIMES and [p.base_offset for p in pieces if isinstance(p, StoredBatch)] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("number", [400, 1600])
def test_sound_batches_between_false_headers(number: int) -> None:
    """Each false one is where the next batch is expected, with the offset that is expected."""
    one = len(batch(0, [NO_OP]))
    size = number * (one + 61)
    content = b""
    for base in range(number):
        content += batch(base, [NO_OP]) + false_header(base + 1, size - len(content) - one)
    pieces, times = pieces_of(content)
    assert times < MOST_TIMES
    assert [p.base_offset for p in pieces if isinstance(p, StoredBatch)] == list(range(number))
    assert sum(isinstance(p, Damage) for p in pieces) >= number - 1


def test_a_sound_batch_among_false_ones_is_found_wherever_it_is() -> None:
    """The answer is that of looking at every place and checking all that its header claims."""
    chance, answers = random.Random(7), set[bool]()
    for _ in range(60):
        parts = [
            chance.choice(
                (
                    false_header(chance.randrange(9), chance.randrange(61, 900)),
                    batch(chance.randrange(9), [NO_OP] * chance.randrange(1, 9)),
                    chance.randbytes(chance.randrange(90)),
                    b"\0\0\0\2" * chance.randrange(30),
                )
            )
            for _ in range(12)
        ]
        content = b"".join(parts)[: chance.randrange(200, 3000)]
        for _ in range(5):
            position, least = chance.randrange(len(content)), chance.randrange(12)
            file, sums = io.BytesIO(content), RangeSums(io.BytesIO(content), position, len(content))
            answer = next_sound(file, position, len(content), least, sums, lambda: False)
            assert answer == first_sound(content, position, least)
            answers.add(answer is None)
    assert answers == {True, False}


def first_sound(content: bytes, position: int, least: int) -> int | None:
    """The next batch with a true checksum."""
    for at in range(position, len(content) - HEADER.size + 1):
        head = head_of(content, at)
        if head is None or not head.is_possible() or at + head.size > len(content):
            continue
        near = least <= head.base_offset < least + 2**32
        if near and checksum_holds(head, content[at : at + head.size]):
            return at
    return None


def test_checksums_of_parts() -> None:
    chance = random.Random(3)
    content = chance.randbytes(5000)
    for origin in (0, 1, 900):
        sums = RangeSums(io.BytesIO(content), origin, len(content))
        for _ in range(40):
            parts = [sorted(chance.choices(range(origin, 5001), k=2)) for _ in range(5)]
            starts, stops = (np.array(places) for places in zip(*parts, strict=True))
            expected = [google_crc32c.value(content[start:stop]) for start, stop in parts]
            assert sums.of_each(starts, stops).tolist() == expected


def test_the_line_of_a_batch_in_a_dump_takes_no_time_without_end() -> None:
    start = "baseOffset: 0 lastOffset: 0 count: 1 "
    times = []
    for number in (2_000, 20_000):
        line = start + "isControl: true CreateTime: 1 " * number
        before = time.perf_counter()
        assert BATCH.match(line) is None
        times.append(time.perf_counter() - before)
    assert times[1] < 1.0  # one gap tried at each place of another would take hours
    real = f"{start}isControl: false position: 0 CreateTime: 7 size: 3 magic: 2 isvalid: true"
    match = BATCH.match(real)
    assert match and match.groups() == ("0", "0", "1", "false", "7", "true")
    assert not re.search(r"\.\*(?!\?)", BATCH.pattern)


def test_an_interrupt_is_noticed_where_nothing_but_damage_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question after the first ones is answered with an end; the log is read no further."""
    calls = 0

    def interrupted(_: object) -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    size = 200_000
    content = b"".join(false_header(1, size - at) for at in range(0, size - 61, 61))
    path = tmp_path / SEGMENT
    path.write_bytes(batch(0, [NO_OP]) + content + batch(1, [NO_OP]))
    monkeypatch.setattr(audit.Interrupts, "__call__", interrupted)
    report = run_audit(AuditRequest((path, CONTROL)), Silent())
    assert report.interrupted and report.records <= 1 and len(report.logs) == 1
