"""A partition as Kafka registers it, and the questions to PartitionChangeBuilder, in Kafka's own terms.

Broker ids are Kafka's, and -1 stands for no broker, as in Kafka's records. Sequences are tuples in Kafka's
order, because that order decides elections. Nothing here is interpreted: these are the arguments of a call
and its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

Ids: TypeAlias = tuple[int, ...]
Recovery: TypeAlias = Literal["RECOVERED", "RECOVERING"]
Election: TypeAlias = Literal["PREFERRED", "ONLINE", "UNCLEAN"]

NO_LEADER = -1

# Directories are numbered per broker, from 0 in the order of its registration. These are the reserved ids of
# org.apache.kafka.common.DirectoryId.
UNASSIGNED, LOST, MIGRATING = -1, -2, -3


class Tagged(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """One of several kinds; "type" in its JSON says which."""


@dataclass(frozen=True, slots=True)
class KafkaPartition:
    """A PartitionRegistration.

    last_known_elr may hold -1, because some releases store NO_LEADER there. directories: for each replica the
    number of its log directory, or one of the reserved ids; None in a question means directory 0 of each.
    Answers always name them.
    """

    replicas: Ids
    isr: Ids
    elr: Ids = ()
    last_known_elr: Ids = ()
    adding: Ids = ()
    removing: Ids = ()
    leader: int = NO_LEADER
    leader_epoch: int = 0
    partition_epoch: int = 0
    recovery: Recovery = "RECOVERED"
    directories: Ids | None = None


@dataclass(frozen=True, slots=True)
class BuilderQuestion:
    """One use of PartitionChangeBuilder; a target of None is one that is not set.

    acceptable: the replicas for which the builder's isAcceptableLeader is true.
    metadata_version: such as "4.0-IV3"; None is the newest that this Kafka has in production.
    """

    partition: KafkaPartition
    acceptable: Ids
    min_isr: int = 1
    elr: bool = True
    election: Election = "ONLINE"
    target_isr: Ids | None = None
    target_replicas: Ids | None = None
    target_adding: Ids | None = None
    target_removing: Ids | None = None
    unclean_shutdown: Ids | None = None
    target_recovery: Recovery | None = None
    metadata_version: str | None = None


@dataclass(frozen=True, slots=True)
class BuilderAnswer:
    """The outcome.

    partition: the registration after merging the record, which was written to bytes and read back before;
    None if the builder wrote no record. failure: the exception that the builder or the merge threw.
    """

    partition: KafkaPartition | None
    failure: str | None = None
