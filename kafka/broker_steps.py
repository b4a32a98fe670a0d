"""The questions to kafka.cluster.Partition: events of one broker, and its state after each; and those to a follower.

The partition is the broker's own (`Beginning.id`). Offsets, epochs and sets are Kafka's; -1 is an offset or a
broker epoch that the leader does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.kafka.partition_questions import Ids, Tagged

BrokerState: TypeAlias = Literal["active", "fenced", "shutting down"]
NO_LAG = -1
"""A replica.lag.time.max.ms with which every follower behind the log end lags, and the rest do not."""


class Beginning(Tagged, frozen=True):
    """A process that has just started, with an empty log. lag: replica.lag.time.max.ms."""

    id: int
    epoch: int
    min_isr: int
    lag: int = NO_LAG


class Registered(Tagged, frozen=True):
    """The registrations in the broker's metadata cache: (id, broker epoch, state)."""

    brokers: tuple[tuple[int, int, BrokerState], ...]


class Metadata(Tagged, frozen=True):
    """A partition record: makeLeader if it names this broker the leader, else makeFollower."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Ids
    isr: Ids


class Append(Tagged, frozen=True):
    """appendRecordsToLeader of one record."""

    acks: int


class FollowerFetch(Tagged, frozen=True):
    """fetchRecords of a follower. last_epoch: of its last record, -1 if its log is empty."""

    follower: int
    broker_epoch: int
    offset: int
    leader_epoch: int
    last_epoch: int


class LookForLag(Tagged, frozen=True):
    """maybeShrinkIsr, which the broker calls periodically."""


class Wait(Tagged, frozen=True):
    """Time passes."""

    milliseconds: int


class Granted(Tagged, frozen=True):
    """The controller answers the AlterPartition in flight with a success."""

    leader_epoch: int
    partition_epoch: int
    isr: Ids


class Refused(Tagged, frozen=True):
    """The controller answers it with an error."""

    error: str


BrokerEvent: TypeAlias = (
    Beginning | Registered | Metadata | Append | FollowerFetch | LookForLag | Wait | Granted | Refused
)


class Together(Tagged, frozen=True):
    """What happens to several partitions of one broker at once.

    events: for each partition an event, all of one type; None for one to which nothing happens. Beginning, LookForLag
    and Wait are the same for all; a FollowerFetch is part of one request, a Metadata of one delta, an answer of one
    response. registered: brokers in the metadata delta, if it has any. error: of a whole AlterPartition response.
    """

    events: tuple[BrokerEvent | None, ...]
    registered: tuple[tuple[int, int, BrokerState], ...] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """An AlterPartition that was sent: members are (id, broker epoch), -1 for an unknown one."""

    leader_epoch: int
    partition_epoch: int
    members: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class BrokerAnswer:
    """The outcome of an event, and the state of the partition afterwards.

    outcome: "ok", an error's name, "read:HIGH_WATERMARK:RECORDS" or "diverging:EPOCH:END_OFFSET".
    peers: (id, log end offset, broker epoch) of each follower. sent: since the last event. produce: for each
    offset from 1 to the log end the answer of checkEnoughReplicasReachOffset to a producer, or WAITING.
    """

    outcome: str
    leads: bool
    leader_epoch: int
    partition_epoch: int
    log_end: int
    high_watermark: int
    epoch_start: int | None
    isr: Ids
    maximal_isr: Ids
    in_flight: bool
    peers: tuple[tuple[int, int, int], ...]
    sent: Proposed | None
    produce: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TogetherAnswer:
    """The answer of each partition; requests: each AlterPartition request that was sent, by partition.

    What a partition has `sent` may wait for the answer to another request.
    """

    partitions: tuple[BrokerAnswer, ...]
    requests: tuple[tuple[tuple[int, Proposed], ...], ...]


class AskTruncation(Tagged, frozen=True, tag="Truncation"):
    """A follower with records hears from a new leader.

    leader, follower: the leader epochs of the records in their logs, from offset 0; leader_epoch: the epoch in which
    the leader leads, with no record yet; by_fetch: the follower fetches, else it sends OffsetsForLeaderEpoch.
    """

    leader: Ids
    leader_epoch: int
    follower: Ids
    by_fetch: bool


@dataclass(frozen=True, slots=True)
class Truncated:
    """log_end: the log end offset of the follower after one response."""

    log_end: int
