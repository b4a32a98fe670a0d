"""The records of the metadata log, field by field, in every version that Kafka 3.7 to 4.4 writes.

One table, `records.toml`, is enough for all releases: a version of a record never changes after it was released, and
newer ones only add fields. The names of fields are those that Kafka's dump tool prints. Kinds that only have an id
in it say nothing about partitions; they are counted, and their fields stay unread.

Compared with the records' own classes of every release by tests/kafka/test_records_of_kafka.py.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any

from elrcheck.base.documents import read_toml
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import Natural, NodeReader, Prose, read_record

NO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
"""Uuid.ZERO_UUID."""


class ValueEncoding(Enum):
    """The encoding of one value."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    STRING = "string"
    UUID = "uuid"
    STRUCT = "struct"


ZERO: Mapping[ValueEncoding, Any] = {ValueEncoding.BOOL: False, ValueEncoding.STRING: "", ValueEncoding.UUID: NO_UUID}
"""The default of a kind that is not a number."""


@dataclass(frozen=True)
class SchemaField:
    """A field of a record or of a struct.

    since: the first version that has it. tag: its number, if it is written only when set. otherwise: the value
    where the field is not written. fields: those of a struct.
    """

    name: str
    kind: ValueEncoding
    many: bool
    since: int
    tag: int | None
    nullable: bool
    otherwise: Any
    fields: tuple[SchemaField, ...] = ()


@dataclass(frozen=True)
class RecordType:
    """A kind of record. newest: the last version whose fields are in the table."""

    name: Prose
    key: Natural
    newest: Natural
    fields: Annotated[tuple[SchemaField, ...], NodeReader(_read_fields)] = ()


class _Line:
    """A field of the table with the lines that are indented below it."""

    def __init__(self, text: str) -> None:
        self.name, *words = text.split()
        self.options = {name: ast.literal_eval(value) for name, _, value in (w.partition("=") for w in words) if value}
        self.kind = words[0] if words else ""
        self.below: list[_Line] = []

    def fields(self) -> tuple[SchemaField, ...]:
        return tuple(line._field() for line in self.below)

    def _field(self) -> SchemaField:
        kind, options = ValueEncoding(self.kind.rstrip("?").removesuffix("[]")), self.options
        many = "[]" in self.kind
        return SchemaField(
            name=self.name,
            kind=kind,
            many=many,
            since=options.get("since", 0),
            tag=options.get("tag"),
            nullable=self.kind.endswith("?"),
            otherwise=options.get("default", () if many else ZERO.get(kind, 0)),
            fields=self.fields(),
        )


def _read_fields(node: Node) -> tuple[SchemaField, ...]:
    """Read the fields of a record: a line each, those of a struct indented below it."""
    root = _Line("root")
    for text in node.text().splitlines():
        above = root
        for _ in range((len(text) - len(text.lstrip())) // 4):
            above = above.below[-1]
        above.below.append(_Line(text))
    return root.fields()


_TABLE = read_toml(files("elrcheck.kafka.log") / "records.toml").object(("record", "control", "unread"))
TYPES = tuple(read_record(node, RecordType) for node in _TABLE["record"].items())
BY_KEY: Mapping[int, RecordType] = MappingProxyType({kind.key: kind for kind in TYPES})
BY_NAME: Mapping[str, RecordType] = MappingProxyType({kind.name: kind for kind in TYPES})
LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = (read_record(node, RecordType) for node in _TABLE["control"].items())
CONTROLS: Mapping[int, RecordType] = MappingProxyType(
    {kind.key: kind for kind in (LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER)}
)
UNREAD: Mapping[int, str] = MappingProxyType({int(key): node.text() for key, node in _TABLE["unread"].fields()})
"""Kinds of records that say nothing about partitions."""

ABOUT_BROKERS = frozenset(kind.name for kind in TYPES if "BROKER" in kind.name)
"""Records that register, unregister, fence or change a broker."""
ABOUT_SETTINGS = frozenset({"CONFIG_RECORD", "FEATURE_LEVEL_RECORD"})
