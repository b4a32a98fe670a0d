"""One record batch, magic 2, of a log segment or a snapshot (Kafka's DefaultRecordBatch).

A batch is checked before anything in it is believed: its length, its checksum, then each record's length.
Kafka writes its metadata log without compression (BatchAccumulator), so a compressed batch is reported, not
read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import google_crc32c

from elrcheck.kafka.log.binary import Malformed, part, varlong

HEADER = struct.Struct(">qiibIhiqqqhii")
"""Base offset, length, leader epoch, magic, checksum, attributes, last offset delta, first and last time,
producer id, producer epoch, sequence, count. The length is that from the leader epoch on; the checksum is of
what follows it."""
BEFORE_LENGTH = 12
CHECKED_FROM = 21
MAGIC = 2
CODEC = 0x07
CONTROL = 0x20
CODECS = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
FULL = 10_000
"""The records at which a controller begins another batch for the rest of an event (QuorumController.appendRecords)."""
MOST_PLAIN = 1 << 14
"""The most records of a batch that `plain_values` reads."""


class BatchFault(NamedTuple):
    """Damage in a batch whose checksum is right. offset: the one at which it starts."""

    offset: int
    message: str


class StoredRecord(NamedTuple):
    """A record of a batch. time: milliseconds since 1970."""

    offset: int
    time: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The fields of a batch's header that are needed to find the next one."""

    base_offset: int
    size: int
    """The size of the whole batch, in bytes."""
    leader_epoch: int
    magic: int
    checksum: int
    attributes: int
    last_delta: int
    first_time: int
    count: int

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_delta + 1

    @property
    def control(self) -> bool:
        return bool(self.attributes & CONTROL)

    def is_possible(self) -> bool:
        """Return whether the header is consistent."""
        return (
            self.base_offset >= 0
            and self.size >= HEADER.size
            and self.magic == MAGIC
            and self.last_delta >= 0
            and self.count >= 0
        )


def head_of(data: bytes, at: int = 0) -> BatchHeader | None:
    """Return the header that starts there; None if the bytes are too few."""
    if len(data) - at < HEADER.size:
        return None
    base, length, epoch, magic, checksum, attributes, last, first_time, _, _, _, _, count = HEADER.unpack_from(data, at)
    return BatchHeader(base, length + BEFORE_LENGTH, epoch, magic, checksum, attributes, last, first_time, count)


def checksum_holds(head: BatchHeader, data: bytes) -> bool:
    """Return whether the checksum in the header (CRC-32C) is that of the batch."""
    return bool(google_crc32c.value(data[CHECKED_FROM:]) == head.checksum)


def plain_values(head: BatchHeader, data: bytes) -> list[bytes] | None:
    """Return the values of a whole batch in the form that controllers nearly always write; None for any other.

    Its records have the time of the batch and one offset each, no key and no headers, and lengths of at most
    two bytes. They are read several times faster than by `records_of`.
    """
    if head.attributes & (CODEC | CONTROL) or head.count != head.last_delta + 1 or head.count > MOST_PLAIN:
        return None
    values: list[bytes] = []
    at = HEADER.size
    try:
        for prefix in _prefixes()[: head.count]:
            size, at = _short_length(data, at)
            end = at + size
            if not data.startswith(prefix, at):
                return None
            length, at = _short_length(data, at + len(prefix))
            stop = at + length
            if stop + 1 != end or data[stop]:
                return None
            values.append(data[at:stop])
            at = end
    except (IndexError, Malformed):
        return None
    return values if at == len(data) else None


def _short_length(data: bytes, at: int) -> tuple[int, int]:
    """Return a length of at most two bytes, and the position behind it."""
    length = data[at]
    if length > 0x7F:
        second = data[at + 1]
        length = length & 0x7F | second << 7
        at += 1
        if second > 0x7F:
            raise Malformed("a long length")
    if length & 1:
        raise Malformed("a negative length")
    return length >> 1, at + 1


@cache
def _prefixes() -> tuple[bytes, ...]:
    """Return what follows the length of each record of a plain batch: attributes, time, offset, key."""
    return tuple(b"\0\0" + _zigzag(number) + b"\1" for number in range(MOST_PLAIN))


def _zigzag(number: int) -> bytes:
    """Return a natural number as a signed varint."""
    rest, octets = number << 1, bytearray()
    while rest > 0x7F:
        octets.append(rest & 0x7F | 0x80)
        rest >>= 7
    octets.append(rest)
    return bytes(octets)


def records_of(head: BatchHeader, data: bytes) -> tuple[tuple[StoredRecord, ...], tuple[BatchFault, ...]]:
    """Return the records of a whole batch in order of their offsets, and the faults in it.

    Each offset of a batch has one record, and they are stored in order.
    """
    codec = head.attributes & CODEC
    if codec:
        name = CODECS.get(codec, f"codec {codec}")
        message = f"the batch is compressed ({name}), which Kafka does not do in its metadata log"
        return (), (BatchFault(head.base_offset, message),)
    records: dict[int, StoredRecord] = {}
    faults: list[BatchFault] = []
    at, last = HEADER.size, head.base_offset - 1
    for number in range(head.count):
        try:
            record, at = _record(head, data, at)
        except Malformed as fault:
            faults.append(BatchFault(last + 1, f"record {number} of the batch cannot be read: {fault}"))
            return _in_order(head, records, faults, last + 1)
        offset = record.offset
        if offset in records:
            faults.append(BatchFault(offset, f"offset {offset} appears twice in its batch; not read"))
            continue
        if offset < last:
            faults.append(BatchFault(offset, f"offset {offset} follows {last} in its batch"))
        records[offset] = record
        last = max(last, offset)
    if at != len(data):
        message = f"{len(data) - at} bytes after the last record of the batch"
        faults.append(BatchFault(last + 1, message))
        return _in_order(head, records, faults, last + 1)
    return _in_order(head, records, faults, head.next_offset)


def _in_order(
    head: BatchHeader, records: dict[int, StoredRecord], faults: list[BatchFault], end: int
) -> tuple[tuple[StoredRecord, ...], tuple[BatchFault, ...]]:
    """Return the records, and the faults with one for each gap in the offsets below `end`."""
    if len(records) < end - head.base_offset:
        there = [head.base_offset - 1, *sorted(records), end]
        faults += [
            BatchFault(one + 1, f"offsets {one + 1} to {other - 1} are missing in their batch")
            for one, other in pairwise(there)
            if other > one + 1
        ]
    if faults:
        return tuple(records[offset] for offset in sorted(records)), tuple(sorted(faults))
    return tuple(records.values()), ()


def _record(head: BatchHeader, data: bytes, at: int) -> tuple[StoredRecord, int]:
    length, at = varlong(data, at)
    body, end = part(data, at, length)
    if not body:
        raise Malformed("it is empty")
    time, at = varlong(body, 1)  # behind the attributes, one byte that Kafka does not use
    delta, at = varlong(body, at)
    if not 0 <= delta <= head.last_delta:
        raise Malformed(f"its offset lies {delta} behind the first of the batch")
    key, at = _bytes(body, at)
    value, at = _bytes(body, at)
    headers, at = varlong(body, at)
    for _ in range(headers):
        _, at = _bytes(body, at)
        _, at = _bytes(body, at)
    if headers < 0 or at != len(body):
        raise Malformed("its length is not that of its parts")
    return StoredRecord(head.base_offset + delta, head.first_time + time, key, value), end


def _bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, at = varlong(data, at)
    return (None, at) if length == -1 else part(data, at, length)
