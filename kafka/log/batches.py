"""One record batch, magic 2, of a log segment or a snapshot (Kafka's DefaultRecordBatch).

A batch is checked before anything in it is believed: its length, its checksum, then each record's length.
Kafka writes its metadata log without compression (BatchAccumulator), so a compressed batch is reported, not
read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from elrcheck.kafka.log.binary import Malformed, part, varlong
from elrcheck.kafka.log.crc32c import crc32c

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


class StoredRecord(NamedTuple):
    """A record of a batch. time: milliseconds since 1970."""

    offset: int
    time: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Head:
    """The header of a batch, as far as it is needed to find the next one."""

    base_offset: int
    size: int
    """Of the whole batch, in bytes."""
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
        """Nothing in the header contradicts itself."""
        return (
            self.base_offset >= 0
            and self.size >= HEADER.size
            and self.magic == MAGIC
            and self.last_delta >= 0
            and self.count >= 0
        )


def head_of(data: bytes) -> Head | None:
    """The header with which these bytes start; None if they are too few."""
    if len(data) < HEADER.size:
        return None
    base, length, epoch, magic, checksum, attributes, last, first_time, _, _, _, _, count = (
        HEADER.unpack_from(data)
    )
    return Head(base, length + BEFORE_LENGTH, epoch, magic, checksum, attributes, last, first_time, count)


def checksum_holds(head: Head, data: bytes) -> bool:
    return crc32c(data[CHECKED_FROM:]) == head.checksum


def records_of(head: Head, data: bytes) -> tuple[tuple[StoredRecord, ...], str | None]:
    """The records of a whole batch, and what is wrong with the first one that cannot be read, if any."""
    codec = head.attributes & CODEC
    if codec:
        name = CODECS.get(codec, f"codec {codec}")
        return (), f"the batch is compressed ({name}), which Kafka does not do in its metadata log"
    found: list[StoredRecord] = []
    at = HEADER.size
    for number in range(head.count):
        try:
            record, at = _record(head, data, at)
        except Malformed as fault:
            return tuple(found), f"record {number} of the batch cannot be read: {fault}"
        found.append(record)
    if at != len(data):
        return tuple(found), f"{len(data) - at} bytes behind the last record of the batch"
    return tuple(found), None


def _record(head: Head, data: bytes, at: int) -> tuple[StoredRecord, int]:
    length, at = varlong(data, at)
    body, end = part(data, at, length)
    if not body:
        raise Malformed("it is empty")
    time, at = varlong(body, 1)  # the first byte is of no use yet (attributes)
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
