"""The quick way through a plain batch gives what reading it record by record gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from elrcheck.kafka.log.batches import HEADER, head_of, plain_values, records_of
from elrcheck.kafka.log.segments import StoredBatch, read_segment
from support.log_stories import SEGMENT
from support.log_writer import batch

SIZES = (0, 1, 6, 55, 57, 58, 63, 64, 120, 130, 8100)
"""Of values; around those at which their length, or that of the record, takes another byte."""


def values(chance: random.Random, count: int) -> list[bytes]:
    return [chance.randbytes(chance.choice(SIZES)) for _ in range(count)]


def test_plain_batches_of_all_lengths() -> None:
    chance = random.Random(2)
    for count in (0, 1, 2, 63, 64, 65, 200, 9_000):
        expected = [b"x"] * count if count == 9_000 else values(chance, count)  # numbers of three bytes
        data = batch(5, expected)
        head = head_of(data)
        assert head is not None and plain_values(head, data) == expected


def odd(chance: random.Random, base: int, some: Sequence[bytes]) -> bytes:
    """A batch that is true, and not plain; or one whose checksum fails."""
    count = len(some)
    match chance.randrange(7):
        case 0:
            return batch(base, [*some, bytes(9_000)])
        case 1:
            return batch(base, some, keys=[b"\0\0\0\x63"] * count)
        case 2:
            return batch(base, some, deltas=[*range(1, count + 1)], last=count)
        case 3:
            return batch(base, some, epoch=0)
        case 4:
            return batch(base, some, last=count + 3)
        case 5:
            return batch(base + 2, some)
    raw = bytearray(batch(base, some))
    raw[chance.randrange(HEADER.size, len(raw))] ^= 0x10
    return bytes(raw)


@pytest.mark.parametrize("seed", range(12))
def test_every_batch_is_read_as_record_by_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    path, data, base = tmp_path / SEGMENT, b"", 0
    for number in range(60):
        some = values(chance, chance.randrange(1, 30))
        data += odd(chance, base, some) if number % 13 == 5 else batch(base, some)
        base += len(some)
    path.write_bytes(data)

    def pieces() -> list[object]:
        return [
            (p.position, p.leader_epoch, p.records) if isinstance(p, StoredBatch) else p for p in read_segment(path, 0)
        ]

    expected = pieces()
    assert sum(isinstance(p, StoredBatch) and p.values is not None for p in read_segment(path, 0)) > 50
    monkeypatch.setattr("elrcheck.kafka.log.segments.plain_values", lambda *_: None)
    assert pieces() == expected and len(expected) > 55


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_byte_is_no_plain_batch_unless_records_agree(seed: int) -> None:
    chance = random.Random(seed)
    raw = bytearray(batch(0, values(chance, chance.randrange(1, 9))))
    for _ in range(200):
        data = bytearray(raw)
        data[chance.randrange(HEADER.size, len(raw))] = chance.choice(
            (0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256))
        )
        head = head_of(bytes(data))
        assert head is not None
        plain = plain_values(head, bytes(data))
        records, faults = records_of(head, bytes(data))
        if plain is not None:
            assert not faults and [record.value for record in records] == plain
            assert {(record.key, record.time) for record in records} == {(None, head.first_time)}
