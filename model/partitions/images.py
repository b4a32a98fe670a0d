"""The input of a decision about one partition, and the state after a batch of decisions about all."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.control_plane.controller_event import Decided
from elrcheck.model.control_plane.creation import no_partition
from elrcheck.model.kafka_error import Error
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import (
    ControllerState,
    EventRecords,
    Fault,
    Grid,
    Part,
    PartControl,
    Place,
    SpentByEvents,
    Topic,
    TopicControl,
    Topics,
)
from elrcheck.model.partitions.indexes import indexes_after
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, ReplicaList


@op
def assignment(c: ControllerConfig, p: Part) -> ReplicaList:
    """The replicas of a partition; the next partition begins with the next broker, so that leaders differ."""
    every = tuple(c.brokers)[: c.broker_count - c.spare_brokers]
    return every[p:] + every[:p]


@op
def no_image(c: ControllerConfig, p: Part) -> PartControl:
    return PartControl(
        partition=no_partition(assignment(c, p)), directory=tuple(Directory.UNASSIGNED for b in c.brokers)
    )


@op
def no_topic(c: ControllerConfig) -> TopicControl:
    return TopicControl(exists=False, min_isr=None, parts=tuple(no_image(c, p) for p in range(c.partitions)))


@op
def runs(s: ControllerState) -> bool:
    """The controller has not resigned."""
    return s.fault == Fault.NONE


@op
def stale_entries(s: ControllerState, b: Replica, t: Topic, p: Part) -> int:
    """The stale entries for b in the index of ELR members, beyond its membership in the ELR."""
    member = 1 if b in s.topics[t].parts[p].partition.elr else 0
    return s.indexes.elrs[b][t][p] - member


@op
def controller_at(c: ControllerConfig, s: ControllerState, t: Topic, p: Part) -> Controller:
    """The input of the controller's decision about one partition."""
    image = s.topics[t].parts[p]
    return Controller(
        settings=replace(s.settings, topic_min_isr=s.topics[t].min_isr),
        partition=image.partition,
        registration=tuple(
            replace(s.registration[b], directory=image.directory[b], stale_entries=stale_entries(s, b, t, p))
            for b in c.brokers
        ),
        favoured=None,
    )


@op
def controller_alone(c: ControllerConfig, s: ControllerState) -> Controller:
    """The same with an empty partition, so that the decision is about brokers and settings only."""
    empty = no_partition(tuple(c.brokers))
    return Controller(settings=s.settings, partition=empty, registration=s.registration, favoured=None)


@op
def image_after(c: ControllerConfig, decided: Decided) -> PartControl:
    after = decided.controller
    return PartControl(partition=after.partition, directory=tuple(after.registration[b].directory for b in c.brokers))


@op
def decided_at(
    c: ControllerConfig, s: ControllerState, t: Topic, p: Part, decided: Decided, spent: SpentByEvents
) -> ControllerState:
    """The state after a decision about a single partition."""
    parts = tuple(image_after(c, decided) if q == p else s.topics[t].parts[q] for q in range(c.partitions))
    topics = tuple(replace(s.topics[u], parts=parts) if u == t else s.topics[u] for u in range(c.topics))
    return replace(s, topics=topics, indexes=indexes_after(c, s, topics), spent=spent)


@op
def written_parts(
    c: ControllerConfig, s: ControllerState, records: frozenset[Place], decided: Grid[Decided]
) -> Topics[TopicControl]:
    """The topics after a replay of the records of these partitions."""
    return tuple(
        replace(
            s.topics[t],
            parts=tuple(
                image_after(c, decided[t][p]) if (t, p) in records else s.topics[t].parts[p]
                for p in range(c.partitions)
            ),
        )
        for t in range(c.topics)
    )


@op
def fails(batch: EventRecords) -> bool:
    """The event throws an exception and writes nothing (generateLeaderAndIsrUpdates, LeaderAcceptor)."""
    return batch.unknown or any(batch.decided[t][p].error != Error.NONE for t, p in batch.places)


@op
def committed(
    c: ControllerConfig, s: ControllerState, batch: EventRecords, fault: Fault, spent: SpentByEvents
) -> ControllerState:
    """The state after all records of an event, each built from the topics before it, or after its exception."""
    topics = written_parts(c, s, EMPTY if fails(batch) else batch.places, batch.decided)
    return replace(
        s,
        topics=topics,
        registration=s.registration if fails(batch) else batch.registration,
        indexes=indexes_after(c, s, topics),
        fault=fault if fails(batch) else s.fault,
        spent=spent,
    )


@op
def cut_off(
    c: ControllerConfig,
    s: ControllerState,
    batch: EventRecords,
    first: frozenset[Place],
    broker_is_first: bool,
    spent: SpentByEvents,
) -> ControllerState:
    """The state of the next controller if only the first records of an event are committed: those of some partitions.

    broker_is_first: the record of the broker precedes them. Sessions start anew.
    """
    topics = written_parts(c, s, first, batch.decided)
    return replace(
        s,
        topics=topics,
        registration=batch.registration if broker_is_first else s.registration,
        indexes=indexes_after(c, s, topics),
        spent=replace(spent, cuts=spent.cuts + 1),
    )
