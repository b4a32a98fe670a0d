"""The questions to kafka.server.ReplicaFetcherThread: how far a follower truncates its log."""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.kafka.partition_questions import Ids, Tagged


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
