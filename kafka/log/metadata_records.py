"""The value of a stored record as a metadata record, by the table of records (MetadataRecordSerde).

A value starts with three unsigned varints: the version of the frame, the kind of the record, the record's
version. A kind or version that the table does not have is not an error: the record comes back as Unread, to be
counted.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from elrcheck.kafka.log.binary import (
    Malformed,
    Reader,
    compact_array,
    compact_ids,
    compact_string,
    fixed,
    part,
    required,
    unsigned_varint,
    uuid,
)
from elrcheck.kafka.log.record_table import BY_KEY, BY_NAME, CONTROLS, UNREAD, RecordType, SchemaField, ValueEncoding

FRAME_VERSION = 1
CHANGE = BY_NAME["PARTITION_CHANGE_RECORD"]
NAMES_A_PARTITION = 20
"""Bytes at the start of its fields: the number of the partition, and the id of its topic."""
START = 3
"""Bytes before the fields of a change: frame version, kind and version."""
REST = START + NAMES_A_PARTITION
"""Where the name of the partition ends."""
CHANGES = frozenset(bytes([FRAME_VERSION, CHANGE.key, version]) for version in range(CHANGE.newest + 1))
"""The starts of changes."""
CREATED = BY_NAME["PARTITION_RECORD"]
CREATIONS = frozenset(bytes([FRAME_VERSION, CREATED.key, version]) for version in range(CREATED.newest + 1))
"""The starts of records that create a partition, which name it as changes do."""
Fields: TypeAlias = Mapping[str, Any]
"""Values by the field names of the table: numbers, text, None, tuples of them; a struct is such a mapping."""


class MetadataRecord(NamedTuple):
    """A record with a value for every field of the table: the default where its version has no such field."""

    name: str
    version: int
    fields: Fields


class Unread(NamedTuple):
    """A record that says nothing about partitions, or one that this version of elrcheck does not know.

    known: the kind is known to say nothing about partitions. name: "kind 31" for an unknown kind.
    """

    name: str
    version: int
    known: bool


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """A record of the controller's quorum about the log itself. fields: None for a kind that is not read."""

    name: str
    fields: Fields | None


def read_record(value: bytes | None) -> MetadataRecord | Unread:
    """Decode the value of a record; raise Malformed."""
    if not value:
        raise Malformed("the record is empty")
    frame, at = unsigned_varint(value, 0)
    if frame != FRAME_VERSION:
        raise Malformed(f"frame version {frame}, not {FRAME_VERSION}")
    key, at = unsigned_varint(value, at)
    version, at = unsigned_varint(value, at)
    kind = BY_KEY.get(key)
    if kind is None:
        return Unread(UNREAD.get(key, f"kind {key}"), version, key in UNREAD)
    if version > kind.newest:
        return Unread(kind.name, version, known=False)
    if key == CHANGE.key and len(value) >= at + NAMES_A_PARTITION:
        return _changed(value, at, version)
    return _read(kind, version, value, at)


def _changed(value: bytes, at: int, version: int) -> MetadataRecord:
    """Return a change of a partition; cached, because few different ones recur for many partitions."""
    rest = at + NAMES_A_PARTITION
    template = _template(value[:at], value[rest:], version)
    topic, number = topic_and_number(value, at)
    return template._replace(fields=dict(template.fields, partitionId=number, topicId=topic))


def change_in(value: bytes) -> Fields:
    """Return the change of the partition that a value names; the value starts as one of CHANGES."""
    return _template(value[:START], value[REST:], value[START - 1]).fields


def name_of_partition(topic_id: str, number: int) -> bytes:
    """Return the name of a partition in records."""
    return number.to_bytes(4, signed=True) + base64.urlsafe_b64decode(f"{topic_id}==")


def topic_and_number(value: bytes, at: int) -> tuple[str, int]:
    """Return the partition that is named at this place."""
    topic, _ = uuid(value, at + 4)
    return topic, int.from_bytes(value[at : at + 4], signed=True)


@lru_cache(maxsize=1 << 16)
def _template(start: bytes, rest: bytes, version: int) -> MetadataRecord:
    """Return a change without its partition, from the bytes before and after the partition's name."""
    return _read(CHANGE, version, start + bytes(NAMES_A_PARTITION) + rest, len(start))


def _read(kind: RecordType, version: int, value: bytes, at: int) -> MetadataRecord:
    try:
        fields, end = _reader(kind, version)(value, at)
    except Malformed as fault:
        raise Malformed(f"{kind.name} of version {version}: {fault}") from None
    if end != len(value):
        raise Malformed(f"{kind.name} of version {version}: {len(value) - end} bytes too many")
    return MetadataRecord(kind.name, version, fields)


def read_control(key: bytes | None, value: bytes | None) -> ControlRecord:
    """Decode a record of a control batch; raise Malformed."""
    _, at = fixed("h")(key or b"", 0)
    number, _ = fixed("h")(key or b"", at)
    kind = CONTROLS.get(number)
    if kind is None:
        return ControlRecord(f"control record {number}", None)
    version, _ = fixed("h")(value or b"", 0)
    if not 0 <= version <= kind.newest:
        return ControlRecord(kind.name, None)
    fields, _ = _reader(kind, version)(value or b"", 0)
    return ControlRecord(kind.name, fields)


def defaults_of(kind: RecordType) -> dict[str, Any]:
    """Return the value of each field where it is not written."""
    return {field.name: field.otherwise for field in kind.fields}


# ---------------------------------------------------------------------------- readers, one for each version

StructReader: TypeAlias = Callable[[bytes, int], tuple[dict[str, Any], int]]
_READERS: dict[tuple[str, int], StructReader] = {}
NUMBERS: Mapping[ValueEncoding, Reader] = {
    ValueEncoding.BOOL: fixed("?"),
    ValueEncoding.INT8: fixed("b"),
    ValueEncoding.INT16: fixed("h"),
    ValueEncoding.UINT16: fixed("H"),
    ValueEncoding.INT32: fixed("i"),
    ValueEncoding.INT64: fixed("q"),
    ValueEncoding.UUID: uuid,
}


def _reader(kind: RecordType, version: int) -> StructReader:
    # by name, because hashing a kind takes longer than decoding a record of it
    reader = _READERS.get((kind.name, version))
    if reader is None:
        reader = _READERS[kind.name, version] = _struct(kind.fields, version)
    return reader


def _struct(fields: tuple[SchemaField, ...], version: int) -> StructReader:
    """Return the reader of a message: its fields in order, then those with tags (KIP-482)."""
    present = [field for field in fields if field.since <= version]
    plain = tuple((field.name, _field(field, version)) for field in present if field.tag is None)
    tagged = {field.tag: (field.name, _field(field, version)) for field in present if field.tag is not None}
    absent = {field.name: field.otherwise for field in fields}

    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        fields = dict(absent)
        for name, reader in plain:
            fields[name], at = reader(data, at)
        count, at = unsigned_varint(data, at)
        for _ in range(count):
            tag, at = unsigned_varint(data, at)
            size, at = unsigned_varint(data, at)
            if tag not in tagged:
                _, at = part(data, at, size)
                continue
            name, reader = tagged[tag]
            fields[name], end = reader(data, at)
            if end != at + size:
                raise Malformed(f"{name} has {end - at} bytes, not the {size} it claims")
            at = end
        return fields, at

    return read


def _field(field: SchemaField, version: int) -> Reader:
    if field.kind is ValueEncoding.STRUCT:
        one: Reader = _struct(field.fields, version)
    elif field.kind is ValueEncoding.STRING:
        one = compact_string
    else:
        one = NUMBERS[field.kind]
    if field.many and field.kind is ValueEncoding.INT32:
        one = compact_ids
    elif field.many:
        one = compact_array(one if field.kind is not ValueEncoding.STRING else required(one))
    return one if field.nullable else required(one)
