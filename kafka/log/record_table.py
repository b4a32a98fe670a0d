"""The records of the metadata log, field by field, in every version that Kafka 3.7 to 4.4 writes.

One table is enough for all releases: a version of a record never changes after it was released, and newer
ones only add fields. Field names are those that Kafka's dump tool prints. Kinds that only have an id here say
nothing about partitions; they are counted, and their fields stay unread.

Compared with the records' own classes of every release by tests/kafka/test_records_of_kafka.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

NO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
"""Uuid.ZERO_UUID."""


class Kind(Enum):
    """How one value is written."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    STRING = "string"
    UUID = "uuid"
    STRUCT = "struct"


ZERO: Mapping[Kind, Any] = {Kind.BOOL: False, Kind.STRING: "", Kind.UUID: NO_UUID}
"""The default of a kind that is no number."""


@dataclass(frozen=True)
class Field:
    """A field. since: the first version that has it. tag: its number, if it is written only when set."""

    name: str
    kind: Kind
    many: bool = False
    since: int = 0
    tag: int | None = None
    nullable: bool = False
    default: Any = ...
    fields: tuple[Field, ...] = ()
    """Of a struct."""

    @property
    def otherwise(self) -> Any:
        """The value where the field is not written."""
        if self.default is not ...:
            return self.default
        return () if self.many else ZERO.get(self.kind, 0)


@dataclass(frozen=True)
class RecordType:
    """A kind of record. newest: the last version whose fields are in the table."""

    name: str
    key: int
    newest: int
    fields: tuple[Field, ...]


def ids(name: str, since: int = 0, tag: int | None = None) -> Field:
    """A list of broker ids. Where it has a tag it may be null, which is no change, or none at all."""
    default: Any = ... if tag is None else None
    return Field(name, Kind.INT32, True, since, tag, tag is not None, default)


def directory_ids(name: str, since: int, tag: int | None = None, nullable: bool = False) -> Field:
    return Field(name, Kind.UUID, True, since, tag, nullable, None if nullable else ...)


def text(name: str, nullable: bool = False) -> Field:
    return Field(name, Kind.STRING, nullable=nullable)


END_POINTS = Field(
    "endPoints",
    Kind.STRUCT,
    True,
    fields=(text("name"), text("host"), Field("port", Kind.UINT16), Field("securityProtocol", Kind.INT16)),
)
FEATURES = Field(
    "features",
    Kind.STRUCT,
    True,
    fields=(text("name"), Field("minSupportedVersion", Kind.INT16), Field("maxSupportedVersion", Kind.INT16)),
)
REASON = Field("reason", Kind.STRING, tag=0, nullable=True, default=None)

TYPES = (
    RecordType(
        "REGISTER_BROKER_RECORD",
        0,
        4,
        (
            Field("brokerId", Kind.INT32),
            Field("isMigratingZkBroker", Kind.BOOL, since=2),
            Field("incarnationId", Kind.UUID),
            Field("brokerEpoch", Kind.INT64),
            END_POINTS,
            FEATURES,
            text("rack", nullable=True),
            Field("fenced", Kind.BOOL, default=True),
            Field("inControlledShutdown", Kind.BOOL, since=1),
            directory_ids("logDirs", 3, tag=0),
            directory_ids("cordonedLogDirs", 4, tag=1, nullable=True),
        ),
    ),
    RecordType("UNREGISTER_BROKER_RECORD", 1, 0, (Field("brokerId", Kind.INT32), Field("brokerEpoch", Kind.INT64))),
    RecordType("TOPIC_RECORD", 2, 0, (text("name"), Field("topicId", Kind.UUID))),
    RecordType(
        "PARTITION_RECORD",
        3,
        2,
        (
            Field("partitionId", Kind.INT32, default=-1),
            Field("topicId", Kind.UUID),
            ids("replicas"),
            ids("isr"),
            ids("removingReplicas"),
            ids("addingReplicas"),
            Field("leader", Kind.INT32, default=-1),
            Field("leaderRecoveryState", Kind.INT8, tag=0),
            Field("leaderEpoch", Kind.INT32, default=-1),
            Field("partitionEpoch", Kind.INT32, default=-1),
            directory_ids("directories", 1),
            ids("eligibleLeaderReplicas", 2, tag=1),
            ids("lastKnownElr", 2, tag=2),
        ),
    ),
    RecordType(
        "CONFIG_RECORD",
        4,
        0,
        (Field("resourceType", Kind.INT8), text("resourceName"), text("name"), text("value", nullable=True)),
    ),
    RecordType(
        "PARTITION_CHANGE_RECORD",
        5,
        2,
        (
            Field("partitionId", Kind.INT32, default=-1),
            Field("topicId", Kind.UUID),
            ids("isr", tag=0),
            Field("leader", Kind.INT32, tag=1, default=-2),
            ids("replicas", tag=2),
            ids("removingReplicas", tag=3),
            ids("addingReplicas", tag=4),
            Field("leaderRecoveryState", Kind.INT8, tag=5, default=-1),
            directory_ids("directories", 1, tag=8, nullable=True),
            ids("eligibleLeaderReplicas", 2, tag=6),
            ids("lastKnownElr", 2, tag=7),
        ),
    ),
    RecordType("FENCE_BROKER_RECORD", 7, 0, (Field("id", Kind.INT32), Field("epoch", Kind.INT64))),
    RecordType("UNFENCE_BROKER_RECORD", 8, 0, (Field("id", Kind.INT32), Field("epoch", Kind.INT64))),
    RecordType("REMOVE_TOPIC_RECORD", 9, 0, (Field("topicId", Kind.UUID),)),
    RecordType("FEATURE_LEVEL_RECORD", 12, 0, (text("name"), Field("featureLevel", Kind.INT16))),
    RecordType(
        "BROKER_REGISTRATION_CHANGE_RECORD",
        17,
        3,
        (
            Field("brokerId", Kind.INT32),
            Field("brokerEpoch", Kind.INT64),
            Field("fenced", Kind.INT8, tag=0),
            Field("inControlledShutdown", Kind.INT8, since=1, tag=1),
            directory_ids("logDirs", 2, tag=2),
            directory_ids("cordonedLogDirs", 3, tag=3, nullable=True),
        ),
    ),
    RecordType("NO_OP_RECORD", 20, 0, ()),
    RecordType("BEGIN_TRANSACTION_RECORD", 23, 0, (Field("name", Kind.STRING, tag=0, nullable=True, default=None),)),
    RecordType("END_TRANSACTION_RECORD", 24, 0, ()),
    RecordType("ABORT_TRANSACTION_RECORD", 25, 0, (REASON,)),
    RecordType("CLEAR_ELR_RECORD", 28, 0, (text("topicName"),)),
)

BY_KEY: Mapping[int, RecordType] = MappingProxyType({kind.key: kind for kind in TYPES})
BY_NAME: Mapping[str, RecordType] = MappingProxyType({kind.name: kind for kind in TYPES})

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


# What the controller's quorum writes between the records: batches of their own, kinds by number
# (org.apache.kafka.common.record.ControlRecordType).

LEADER_CHANGE = RecordType(
    "LeaderChange",
    2,
    1,
    (
        Field("version", Kind.INT16),
        Field("leaderId", Kind.INT32),
        Field(
            "voters",
            Kind.STRUCT,
            True,
            fields=(Field("voterId", Kind.INT32), Field("voterDirectoryId", Kind.UUID, since=1)),
        ),
        Field(
            "grantingVoters",
            Kind.STRUCT,
            True,
            fields=(Field("voterId", Kind.INT32), Field("voterDirectoryId", Kind.UUID, since=1)),
        ),
    ),
)
SNAPSHOT_HEADER = RecordType(
    "SnapshotHeader", 3, 0, (Field("version", Kind.INT16), Field("lastContainedLogTimestamp", Kind.INT64))
)
SNAPSHOT_FOOTER = RecordType("SnapshotFooter", 4, 0, (Field("version", Kind.INT16),))
CONTROLS: Mapping[int, RecordType] = MappingProxyType(
    {kind.key: kind for kind in (LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER)}
)
