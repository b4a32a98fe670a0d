"""Metadata logs for tests: records by the table, batches with true checksums.

tests/kafka/test_stored_logs.py holds what this writes against bytes that Kafka's own serializers wrote.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import google_crc32c

from elrcheck.kafka.log.batches import CHECKED_FROM, HEADER
from elrcheck.kafka.log.record_table import (
    BY_NAME,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    SchemaField,
    ValueEncoding,
)

RecordFields: TypeAlias = tuple[str, int, Mapping[str, Any]]
"""A record: name, version, the fields that are not as by default."""
CODES = {
    ValueEncoding.BOOL: ">?",
    ValueEncoding.INT8: ">b",
    ValueEncoding.INT16: ">h",
    ValueEncoding.UINT16: ">H",
    ValueEncoding.INT32: ">i",
    ValueEncoding.INT64: ">q",
}


def unsigned_varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def varlong(value: int) -> bytes:
    return unsigned_varint((value << 1) ^ (value >> 63) & (1 << 64) - 1)


def record_value(step: RecordFields) -> bytes:
    name, version, fields = step
    kind = BY_NAME[name]
    frame = unsigned_varint(1) + unsigned_varint(kind.key) + unsigned_varint(version)
    return frame + _struct(kind.fields, version, fields)


def _struct(fields: Sequence[SchemaField], version: int, values: Mapping[str, Any]) -> bytes:
    present = [field for field in fields if field.since <= version]
    plain = b""
    tagged: dict[int, bytes] = {}
    for field in present:
        value = values.get(field.name, field.otherwise)
        if field.tag is None:
            plain += _field(field, version, value)
        elif value != field.otherwise:
            tagged[field.tag] = _field(field, version, value)
    parts = [unsigned_varint(tag) + unsigned_varint(len(raw)) + raw for tag, raw in sorted(tagged.items())]
    return plain + unsigned_varint(len(parts)) + b"".join(parts)


def _field(field: SchemaField, version: int, value: Any) -> bytes:
    if not field.many:
        return _single(field, version, value)
    if value is None:
        return b"\0"
    return unsigned_varint(len(value) + 1) + b"".join(_single(field, version, each) for each in value)


def _single(field: SchemaField, version: int, value: Any) -> bytes:
    match field.kind:
        case ValueEncoding.STRUCT:
            return _struct(field.fields, version, value)
        case ValueEncoding.UUID:
            return base64.urlsafe_b64decode(f"{value}==")
        case ValueEncoding.STRING:
            if value is None:
                return b"\0"
            raw = value.encode("utf-8")
            return unsigned_varint(len(raw) + 1) + raw
    return struct.pack(CODES[field.kind], value)


def batch(
    base: int,
    values: Sequence[bytes],
    epoch: int = 1,
    time: int = 1_000,
    *,
    keys: Sequence[bytes] | None = None,
    attributes: int = 0,
    count: int | None = None,
    deltas: Sequence[int] | None = None,
    last: int | None = None,
) -> bytes:
    """A batch; with keys its records are control records. deltas, last: offsets in it, if not in order."""
    body = b""
    for place, value in enumerate(values):
        delta = place if deltas is None else deltas[place]
        key = b"\x01" if keys is None else varlong(len(keys[place])) + keys[place]
        record = b"\0" + varlong(0) + varlong(delta) + key + varlong(len(value)) + value + varlong(0)
        body += varlong(len(record)) + record
    attributes |= 0 if keys is None else 0x20
    number = len(values) if count is None else count
    last = len(values) - 1 if last is None else last
    header = HEADER.pack(
        base, HEADER.size - 12 + len(body), epoch, 2, 0, attributes, last, time, time, -1, -1, -1, number
    )
    raw = bytearray(header + body)
    raw[17:21] = struct.pack(">I", google_crc32c.value(bytes(raw[CHECKED_FROM:])))
    return bytes(raw)


def batch_of(base: int, steps: Sequence[RecordFields], epoch: int = 1, time: int = 1_000) -> bytes:
    return batch(base, [record_value(each) for each in steps], epoch, time)


def leader_change(base: int, epoch: int, time: int, leader: int) -> bytes:
    voters = [{"voterId": leader}]
    value = _struct(LEADER_CHANGE.fields, 0, {"leaderId": leader, "voters": voters, "grantingVoters": voters})
    return batch(base, [value], epoch, time, keys=[struct.pack(">hh", 0, LEADER_CHANGE.key)])


def snapshot_header(base: int, epoch: int, time: int, last_time: int) -> bytes:
    value = _struct(SNAPSHOT_HEADER.fields, 0, {"lastContainedLogTimestamp": last_time})
    return batch(base, [value], epoch, time, keys=[struct.pack(">hh", 0, SNAPSHOT_HEADER.key)])


def snapshot_footer(base: int, epoch: int, time: int) -> bytes:
    value = _struct(SNAPSHOT_FOOTER.fields, 0, {})
    return batch(base, [value], epoch, time, keys=[struct.pack(">hh", 0, SNAPSHOT_FOOTER.key)])
