"""The controller's indexes: their update by a change of the topics, and their recomputation.

Sources: ReplicationControlManager (updatePartitionInfo, updatePartitionDirectories, replay of PartitionRecord,
PartitionChangeRecord, RemoveTopicRecord and ClearElrRecord), BrokersToIsrs.update, BrokersToElrs.update.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import (
    ControllerState,
    Entries,
    Grid,
    Indexes,
    Part,
    Place,
    Topic,
    TopicControl,
    Topics,
)
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Directory

# ---------------------------------------------------------------------------- from the topics


@op
def isr_entries(c: ControllerConfig, topics: Topics[TopicControl], b: Replica) -> frozenset[tuple[Topic, Part, bool]]:
    """The partitions with b in the ISR, each with whether b leads it."""
    return frozenset(
        (t, p, topics[t].parts[p].partition.leader == b)
        for t in range(c.topics)
        for p in range(c.partitions)
        if b in topics[t].parts[p].partition.isr
    )


@op
def without_leader(c: ControllerConfig, topics: Topics[TopicControl]) -> frozenset[Place]:
    return frozenset(
        (t, p)
        for t in range(c.topics)
        for p in range(c.partitions)
        if topics[t].exists and topics[t].parts[p].partition.leader is None
    )


@op
def not_balanced(c: ControllerConfig, topics: Topics[TopicControl]) -> frozenset[Place]:
    """The partitions that their first replica does not lead (PartitionRegistration.hasPreferredLeader)."""
    return frozenset(
        (t, p)
        for t in range(c.topics)
        for p in range(c.partitions)
        if topics[t].exists and topics[t].parts[p].partition.leader != topics[t].parts[p].partition.replicas[0]
    )


@op
def in_directory(c: ControllerConfig, topics: Topics[TopicControl], b: Replica) -> frozenset[Place]:
    """The partitions with their replica on b recorded in the log directory that b uses."""
    return frozenset(
        (t, p)
        for t in range(c.topics)
        for p in range(c.partitions)
        if topics[t].exists
        and b in topics[t].parts[p].partition.replicas
        and topics[t].parts[p].directory[b] == Directory.ONLINE
    )


@op
def recomputed(c: ControllerConfig, topics: Topics[TopicControl]) -> Indexes:
    """The indexes of a controller that starts from a snapshot of these topics."""
    return Indexes(
        isrs=tuple(isr_entries(c, topics, b) for b in c.brokers),
        leaderless=without_leader(c, topics),
        elrs=tuple(
            tuple(
                tuple(1 if b in topics[t].parts[p].partition.elr else 0 for p in range(c.partitions))
                for t in range(c.topics)
            )
            for b in c.brokers
        ),
        directories=tuple(in_directory(c, topics, b) for b in c.brokers),
        imbalanced=not_balanced(c, topics),
        deleted_isrs=EMPTY,
        deleted_elrs=EMPTY,
        deleted_directories=EMPTY,
    )


# ---------------------------------------------------------------------------- after a change


@op
def moved(index: frozenset[Place], before: frozenset[Place], after: frozenset[Place]) -> frozenset[Place]:
    """An index of partitions after a change, which removes and adds only the difference."""
    return (index - (before - after)) | (after - before)


@op
def leaves_elr(before: TopicControl, after: TopicControl, b: Replica, p: Part) -> bool:
    return b in before.parts[p].partition.elr and b not in after.parts[p].partition.elr


@op
def elr_entries(
    c: ControllerConfig, s: ControllerState, before: TopicControl, after: TopicControl, b: Replica, t: Topic, p: Part
) -> Entries:
    """The entries for b and the partition in the array of a topic after a change (BrokersToElrs.add and remove).

    remove() creates an array shorter by one without any entry of the partition. If there was more than one, the array
    ends with zeros, which are entries of partition 0.
    """
    entries = s.indexes.elrs[b][t]
    joins = b in after.parts[p].partition.elr and b not in before.parts[p].partition.elr
    added = entries[p] + 1 if joins else entries[p]
    if p != 0:
        return 0 if leaves_elr(before, after, b, p) else added
    zeros = sum(entries[q] - 1 for q in range(c.partitions) if q != 0 and leaves_elr(before, after, b, q))
    return (added - 1 if leaves_elr(before, after, b, p) else added) + zeros


@op
def elrs_after(c: ControllerConfig, s: ControllerState, topics: Topics[TopicControl], b: Replica) -> Grid[Entries]:
    return tuple(
        tuple(elr_entries(c, s, s.topics[t], topics[t], b, t, p) for p in range(c.partitions)) for t in range(c.topics)
    )


@op
def indexes_after(c: ControllerConfig, s: ControllerState, topics: Topics[TopicControl]) -> Indexes:
    """The indexes after a replay of the records that change the partitions of existing topics to these."""
    index = s.indexes
    return replace(
        index,
        isrs=tuple(
            (index.isrs[b] - (isr_entries(c, s.topics, b) - isr_entries(c, topics, b)))
            | (isr_entries(c, topics, b) - isr_entries(c, s.topics, b))
            for b in c.brokers
        ),
        leaderless=moved(index.leaderless, without_leader(c, s.topics), without_leader(c, topics)),
        elrs=tuple(elrs_after(c, s, topics, b) for b in c.brokers),
        directories=tuple(
            moved(index.directories[b], in_directory(c, s.topics, b), in_directory(c, topics, b)) for b in c.brokers
        ),
        imbalanced=moved(index.imbalanced, not_balanced(c, s.topics), not_balanced(c, topics)),
    )


@op
def indexes_cleared(c: ControllerConfig, s: ControllerState, topics: Topics[TopicControl]) -> Indexes:
    """The indexes after a replay of ClearElrRecord, which does not update them in the releases (removeTopicElrs)."""
    return s.indexes if c.elr_index_goes_stale else indexes_after(c, s, topics)


# ---------------------------------------------------------------------------- after a deletion


@op
def in_any_isr(c: ControllerConfig, topic: TopicControl) -> RSet:
    return frozenset(b for b in c.brokers if any(b in topic.parts[p].partition.isr for p in range(c.partitions)))


@op
def in_any_elr(c: ControllerConfig, topic: TopicControl) -> RSet:
    return frozenset(b for b in c.brokers if any(b in topic.parts[p].partition.elr for p in range(c.partitions)))


@op
def skipped(c: ControllerConfig, topic: TopicControl, p: Part) -> bool:
    """A deletion leaves the partition in the index of log directories."""
    return c.directory_index_goes_stale and topic.parts[p].partition.isr == EMPTY


@op
def indexes_deleted(c: ControllerConfig, s: ControllerState, t: Topic) -> Indexes:
    """The indexes after a replay of RemoveTopicRecord, which drops the topic for its current members.

    The remaining entries have an id that no topic has or will have again.
    """
    index = s.indexes
    topic = s.topics[t]
    return Indexes(
        isrs=tuple(frozenset(entry for entry in index.isrs[b] if entry[0] != t) for b in c.brokers),
        leaderless=frozenset(place for place in index.leaderless if place[0] != t),
        elrs=tuple(
            tuple(tuple(0 if u == t else index.elrs[b][u][p] for p in range(c.partitions)) for u in range(c.topics))
            for b in c.brokers
        ),
        directories=tuple(frozenset(place for place in index.directories[b] if place[0] != t) for b in c.brokers),
        imbalanced=frozenset(place for place in index.imbalanced if place[0] != t),
        deleted_isrs=index.deleted_isrs
        | frozenset(
            b for b in c.brokers if b not in in_any_isr(c, topic) and any(entry[0] == t for entry in index.isrs[b])
        ),
        deleted_elrs=index.deleted_elrs
        | frozenset(
            b
            for b in c.brokers
            if b not in in_any_elr(c, topic) and any(index.elrs[b][t][p] > 0 for p in range(c.partitions))
        ),
        deleted_directories=index.deleted_directories
        | frozenset(
            b
            for b in c.brokers
            if any(skipped(c, topic, p) and (t, p) in index.directories[b] for p in range(c.partitions))
        ),
    )
