"""The records of the metadata log, field by field, in every version that Kafka 3.7 to 4.4 writes.

One table is enough for all releases: a version of a record never changes after it was released, and newer
ones only add fields. The names of fields are those that Kafka's dump tool prints. Kinds that only have an id
here say nothing about partitions; they are counted, and their fields stay unread.

Compared with the records' own classes of every release by tests/kafka/test_records_of_kafka.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

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

    name: str
    key: int
    newest: int
    fields: tuple[SchemaField, ...]


TABLE = """
REGISTER_BROKER_RECORD key=0 newest=4
    brokerId int32
    isMigratingZkBroker bool since=2
    incarnationId uuid
    brokerEpoch int64
    endPoints struct[]
        name string
        host string
        port uint16
        securityProtocol int16
    features struct[]
        name string
        minSupportedVersion int16
        maxSupportedVersion int16
    rack string?
    fenced bool default=True
    inControlledShutdown bool since=1
    logDirs uuid[] since=3 tag=0
    cordonedLogDirs uuid[]? since=4 tag=1 default=None
UNREGISTER_BROKER_RECORD key=1 newest=0
    brokerId int32
    brokerEpoch int64
TOPIC_RECORD key=2 newest=0
    name string
    topicId uuid
PARTITION_RECORD key=3 newest=2
    partitionId int32 default=-1
    topicId uuid
    replicas int32[]
    isr int32[]
    removingReplicas int32[]
    addingReplicas int32[]
    leader int32 default=-1
    leaderRecoveryState int8 tag=0
    leaderEpoch int32 default=-1
    partitionEpoch int32 default=-1
    directories uuid[] since=1
    eligibleLeaderReplicas int32[]? since=2 tag=1 default=None
    lastKnownElr int32[]? since=2 tag=2 default=None
CONFIG_RECORD key=4 newest=0
    resourceType int8
    resourceName string
    name string
    value string?
PARTITION_CHANGE_RECORD key=5 newest=2
    partitionId int32 default=-1
    topicId uuid
    isr int32[]? tag=0 default=None
    leader int32 tag=1 default=-2
    replicas int32[]? tag=2 default=None
    removingReplicas int32[]? tag=3 default=None
    addingReplicas int32[]? tag=4 default=None
    leaderRecoveryState int8 tag=5 default=-1
    directories uuid[]? since=1 tag=8 default=None
    eligibleLeaderReplicas int32[]? since=2 tag=6 default=None
    lastKnownElr int32[]? since=2 tag=7 default=None
FENCE_BROKER_RECORD key=7 newest=0
    id int32
    epoch int64
UNFENCE_BROKER_RECORD key=8 newest=0
    id int32
    epoch int64
REMOVE_TOPIC_RECORD key=9 newest=0
    topicId uuid
FEATURE_LEVEL_RECORD key=12 newest=0
    name string
    featureLevel int16
BROKER_REGISTRATION_CHANGE_RECORD key=17 newest=3
    brokerId int32
    brokerEpoch int64
    fenced int8 tag=0
    inControlledShutdown int8 since=1 tag=1
    logDirs uuid[] since=2 tag=2
    cordonedLogDirs uuid[]? since=3 tag=3 default=None
NO_OP_RECORD key=20 newest=0
BEGIN_TRANSACTION_RECORD key=23 newest=0
    name string? tag=0 default=None
END_TRANSACTION_RECORD key=24 newest=0
ABORT_TRANSACTION_RECORD key=25 newest=0
    reason string? tag=0 default=None
CLEAR_ELR_RECORD key=28 newest=0
    topicName string
"""
"""A field a line: name, kind, `[]` for an array, `?` where it may be null. A struct's fields are indented."""

CONTROL_TABLE = """
LeaderChange key=2 newest=1
    version int16
    leaderId int32
    voters struct[]
        voterId int32
        voterDirectoryId uuid since=1
    grantingVoters struct[]
        voterId int32
        voterDirectoryId uuid since=1
SnapshotHeader key=3 newest=0
    version int16
    lastContainedLogTimestamp int64
SnapshotFooter key=4 newest=0
    version int16
"""
"""What the controller's quorum writes between the records: batches of their own, kinds by number
(org.apache.kafka.common.record.ControlRecordType)."""


class _Line:
    """A line of a table with the lines that are indented below it."""

    def __init__(self, text: str) -> None:
        self.name, *words = text.split()
        self.options = {name: ast.literal_eval(value) for name, _, value in (w.partition("=") for w in words) if value}
        self.kind = words[0] if words else ""
        self.below: list[_Line] = []

    def record_type(self) -> RecordType:
        return RecordType(self.name, self.options["key"], self.options["newest"], self._fields())

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
            fields=self._fields(),
        )

    def _fields(self) -> tuple[SchemaField, ...]:
        return tuple(line._field() for line in self.below)


def _types(table: str) -> Iterator[RecordType]:
    root = _Line("root")
    for text in table.strip().splitlines():
        above = root
        for _ in range((len(text) - len(text.lstrip())) // 4):
            above = above.below[-1]
        above.below.append(_Line(text))
    return (line.record_type() for line in root.below)


TYPES = tuple(_types(TABLE))
BY_KEY: Mapping[int, RecordType] = MappingProxyType({kind.key: kind for kind in TYPES})
BY_NAME: Mapping[str, RecordType] = MappingProxyType({kind.name: kind for kind in TYPES})
LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = _types(CONTROL_TABLE)
CONTROLS: Mapping[int, RecordType] = MappingProxyType(
    {kind.key: kind for kind in (LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER)}
)

ABOUT_BROKERS = frozenset(kind.name for kind in TYPES if "BROKER" in kind.name)
"""Records that register, unregister, fence or change a broker."""
ABOUT_SETTINGS = frozenset({"CONFIG_RECORD", "FEATURE_LEVEL_RECORD"})
UNREAD: Mapping[int, str] = MappingProxyType(
    {
        10: "DELEGATION_TOKEN_RECORD",
        11: "USER_SCRAM_CREDENTIAL_RECORD",
        14: "CLIENT_QUOTA_RECORD",
        15: "PRODUCER_IDS_RECORD",
        18: "ACCESS_CONTROL_ENTRY_RECORD",
        19: "REMOVE_ACCESS_CONTROL_ENTRY_RECORD",
        21: "ZK_MIGRATION_STATE_RECORD",
        22: "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
        26: "REMOVE_DELEGATION_TOKEN_RECORD",
        27: "REGISTER_CONTROLLER_RECORD",
        29: "UNREGISTER_CONTROLLER_RECORD",
    }
)
"""Kinds of records that say nothing about partitions."""
