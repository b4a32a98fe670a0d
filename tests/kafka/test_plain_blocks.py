"""A stretch of plain batches read at once gives what reading them record by record gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from elrcheck.kafka.log.batches import HEADER, StoredRecord, head_of, records_of
from elrcheck.kafka.log.blocks import Block, Values, plain_block, plain_heads
from elrcheck.kafka.log.crc32c import crc32c, crc32c_of_each
from elrcheck.kafka.log.segments import Batch, read_segment
from support.log_stories import SEGMENT
from support.log_writer import batch

SIZES = (0, 1, 6, 55, 57, 58, 63, 64, 120, 130, 8100)
"""Of values; around those at which their length, or that of the record, takes another byte."""


def values(chance: random.Random, count: int) -> list[bytes]:
    return [chance.randbytes(chance.choice(SIZES)) for _ in range(count)]


def one_by_one(data: bytes) -> list[StoredRecord]:
    found: list[StoredRecord] = []
    at = 0
    while (head := head_of(data, at)) is not None:
        records, faults = records_of(head, data[at : at + head.size])
        assert not faults
        found += records
        at += head.size
    return found


def test_checksums_of_many_at_once() -> None:
    chance = random.Random(1)
    data, parts, at = chance.randbytes(150_000), [], 0
    while at < 120_000:
        end = at + chance.choice((4, 5, 40, 63, 64, 65, 128, 129, 1_600, 20_000))
        parts.append((at, end))
        at = end + chance.randrange(3)
    starts, stops = (np.array(column, np.int64) for column in zip(*parts, strict=True))
    assert crc32c_of_each(data, starts, stops).tolist() == [crc32c(data[a:b]) for a, b in parts]


def test_plain_batches_of_all_lengths() -> None:
    chance = random.Random(2)
    told = [values(chance, count) for count in (1, 2, 63, 64, 65, 200, 9_000, 1)]
    told[6] = [b"x"] * 9_000  # numbers of three bytes
    data, base = b"", 5
    for some in told:
        data += batch(base, some)
        base += len(some)
    heads = plain_heads(data, 5, 1)
    block, count = plain_block(data, heads)
    assert count == len(heads) == len(told)
    assert list(Values(block, 0, len(block.starts))) == [value for some in told for value in some]
    assert block.batches.tolist() == [n for n, some in enumerate(told) for _ in some]
    assert list(Values(block, 0, 66)[64:]) == [told[2][61], told[2][62]] == list(Values(block, 64, 66))
    assert Values(block, 0, 66)[-1] == told[2][62]


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
def test_the_first_batch_that_is_not_plain_ends_a_block(seed: int) -> None:
    chance = random.Random(seed)
    sound = [values(chance, chance.randrange(1, 40)) for _ in range(4)]
    data, base = b"", 0
    for some in sound:
        data += batch(base, some)
        base += len(some)
    last = odd(chance, base, values(chance, 3)) + batch(base + 3, [b"behind"])
    heads = plain_heads(data + last, 0, 1)
    block, count = plain_block(data + last, heads)
    assert count == 4
    told = list(Values(block, 0, len(block.starts)))
    assert told == [record.value for record in one_by_one(data)]


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_the_same_wherever_a_stretch_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    path, data, base = tmp_path / SEGMENT, b"", 0
    for number in range(60):
        some = values(chance, chance.randrange(1, 30))
        data += odd(chance, base, some) if number % 13 == 5 else batch(base, some)
        base += len(some)
    path.write_bytes(data)

    def told() -> list[object]:
        pieces = read_segment(path, 0)
        return [(p.position, p.leader_epoch, p.records) if isinstance(p, Batch) else p for p in pieces]

    at_once = told()
    monkeypatch.setattr("elrcheck.kafka.log.segments.plain_heads", lambda *_: [])
    assert at_once == told() and len(at_once) > 55


def test_a_block_of_values() -> None:
    some = [b"", b"one", b"", b"two"]
    assert list(Values(Block.of(some), 0, 4)) == some and not list(Values(Block.of([]), 0, 0))
