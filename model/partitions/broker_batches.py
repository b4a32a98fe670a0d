"""Broker events, each for all partitions in the indexes: sessions, registration, shutdown, directories.

An event reads the same index as its handler in Kafka; `decide` decides about each partition. Sources:
ReplicationControlManager (handleBrokerFenced, handleBrokerUnfenced, handleBrokerShutdown, handleDirectoriesOffline,
generateLeaderAndIsrUpdates, processBrokerHeartbeat), ClusterControlManager.registerBroker.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.control_plane.controller import registers_uncleanly, shutdown_was_clean
from elrcheck.model.control_plane.controller_event import (
    AlterPartitionEvent,
    ControlState,
    Decided,
    DirectoryFailedEvent,
    DirectoryMovedEvent,
    FenceEvent,
    GrantShutdownEvent,
    RegisterEvent,
    StartShutdownEvent,
    UnfenceEvent,
    UnregisterEvent,
)
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import (
    ControllerState,
    EventRecords,
    Fault,
    Part,
    Place,
    SpentByEvents,
    Topic,
)
from elrcheck.model.partitions.images import committed, controller_alone, controller_at, decided_at, runs
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import Controller, is_active
from elrcheck.model.state import Directory, Recovery

# ---------------------------------------------------------------------------- lookups in the indexes


@op
def partitions_with_isr(s: ControllerState, b: Replica) -> frozenset[Place]:
    """brokersToIsrs.partitionsWithBrokerInIsr"""
    return frozenset((t, p) for t, p, leads in s.indexes.isrs[b])


@op
def partitions_with_elr(c: ControllerConfig, s: ControllerState, b: Replica) -> frozenset[Place]:
    """brokersToElrs.partitionsWithBrokerInElr"""
    return frozenset((t, p) for t in range(c.topics) for p in range(c.partitions) if s.indexes.elrs[b][t][p] > 0)


@op
def has_leaderships(s: ControllerState, b: Replica) -> bool:
    """brokersToIsrs.hasLeaderships"""
    return any(leads for t, p, leads in s.indexes.isrs[b])


# ---------------------------------------------------------------------------- the records of an event


@op
def fence_batch(c: ControllerConfig, s: ControllerState, b: Replica) -> EventRecords:
    event = FenceEvent(broker=b)
    return EventRecords(
        places=partitions_with_isr(s, b),
        decided=tuple(
            tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
        ),
        registration=decide(c, controller_alone(c, s), event).controller.registration,
        unknown=b in s.indexes.deleted_isrs,
    )


@op
def unfence_batch(c: ControllerConfig, s: ControllerState, b: Replica) -> EventRecords:
    event = UnfenceEvent(broker=b)
    return EventRecords(
        places=s.indexes.leaderless,
        decided=tuple(
            tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
        ),
        registration=decide(c, controller_alone(c, s), event).controller.registration,
        unknown=False,
    )


@op
def registration_batch(c: ControllerConfig, s: ControllerState, b: Replica, clean: bool) -> EventRecords:
    """An unclean registration reads both indexes. b still has its log directories."""
    r = s.registration[b]
    presented = r.epoch if clean else 0
    event = RegisterEvent(broker=b, presented=presented, brings_directory=True)
    alone = controller_alone(c, s)
    both = registers_uncleanly(c, alone, b, shutdown_was_clean(c, presented, r.epoch))
    return EventRecords(
        places=partitions_with_isr(s, b) | partitions_with_elr(c, s, b) if both else partitions_with_isr(s, b),
        decided=tuple(
            tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
        ),
        registration=decide(c, alone, event).controller.registration,
        unknown=b in s.indexes.deleted_isrs or (both and b in s.indexes.deleted_elrs),
    )


@op
def not_shutting_down(controller: Controller, b: Replica) -> Controller:
    r = replace(controller.registration[b], in_controlled_shutdown=False)
    return replace(controller, registration=put(controller.registration, b, r))


@op
def shutdown_batch(c: ControllerConfig, s: ControllerState, b: Replica) -> EventRecords:
    """The batch does not depend on an earlier beginning, which another controller may have forgotten."""
    event = StartShutdownEvent(broker=b)
    return EventRecords(
        places=partitions_with_isr(s, b),
        decided=tuple(
            tuple(decide(c, not_shutting_down(controller_at(c, s, t, p), b), event) for p in range(c.partitions))
            for t in range(c.topics)
        ),
        registration=decide(c, not_shutting_down(controller_alone(c, s), b), event).controller.registration,
        unknown=b in s.indexes.deleted_isrs,
    )


@op
def unregistration_batch(c: ControllerConfig, s: ControllerState, b: Replica) -> EventRecords:
    event = UnregisterEvent(broker=b)
    return EventRecords(
        places=partitions_with_isr(s, b) | partitions_with_elr(c, s, b),
        decided=tuple(
            tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
        ),
        registration=decide(c, controller_alone(c, s), event).controller.registration,
        unknown=b in s.indexes.deleted_isrs or b in s.indexes.deleted_elrs,
    )


# ---------------------------------------------------------------------------- sessions


@op
def may_restart(c: ControllerConfig, s: ControllerState, b: Replica) -> bool:
    return s.registration[b].fenced or c.register_before_fence


@op
def knows_epoch(c: ControllerConfig, s: ControllerState, b: Replica) -> bool:
    """The process of b was told its broker epoch, and this is still the registered one (checkBrokerEpoch)."""
    return not c.loses_uncommitted or (b in s.registered and s.processes[b].epoch == s.registration[b].epoch)


@op
def may_unfence(s: ControllerState, b: Replica) -> bool:
    r = s.registration[b]
    return r.registered and r.fenced and not r.in_controlled_shutdown


@op
def after_fencing(s: ControllerState) -> SpentByEvents:
    return replace(s.spent, fences=s.spent.fences + 1)


@op
def after_restart(s: ControllerState, clean: bool) -> SpentByEvents:
    """The budgets after a broker process that stopped cleanly or died."""
    if clean:
        return replace(s.spent, clean_stops=s.spent.clean_stops + 1)
    return replace(s.spent, crashes=s.spent.crashes + 1)


@action
def Fence(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """The session of b expires (handleBrokerFenced): it leaves every ISR in the index."""
    require(runs(s), "the controller has not resigned")
    require(s.registration[b].registered and not s.registration[b].fenced, "b is unfenced")
    return committed(c, s, fence_batch(c, s, b), Fault.FENCING, after_fencing(s))


@action
def Unfence(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """A heartbeat of b after it has caught up (handleBrokerUnfenced): every leaderless partition may elect a leader."""
    require(runs(s), "the controller has not resigned")
    require(may_unfence(s, b), "b is fenced and not shutting down")
    require(knows_epoch(c, s, b), "b knows its broker epoch")
    return committed(c, s, unfence_batch(c, s, b), Fault.UNFENCING, s.spent)


@action
def Register(c: ControllerConfig, s: ControllerState, b: Replica, clean: bool) -> ControllerState:
    """A new incarnation of b registers, after a clean shutdown or not (registerBroker, handleBrokerShutdown)."""
    require(not c.loses_uncommitted, "a registration is answered at once")
    require(runs(s), "the controller has not resigned")
    require(may_restart(c, s, b), "the controller has fenced b")
    return committed(c, s, registration_batch(c, s, b, clean), Fault.REGISTRATION, after_restart(s, clean))


# ---------------------------------------------------------------------------- shutdown


@op
def after_shutdown(s: ControllerState) -> SpentByEvents:
    return replace(s.spent, shutdowns=s.spent.shutdowns + 1)


@action
def StartShutdown(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """b requests a shutdown while it leads a partition (handleBrokerInControlledShutdown): it leaves every ISR."""
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    require(runs(s), "the controller has not resigned")
    require(is_active(s.registration[b]), "b is active")
    require(knows_epoch(c, s, b), "b knows its broker epoch")
    require(has_leaderships(s, b), "b leads a partition")
    return committed(c, s, shutdown_batch(c, s, b), Fault.SHUTDOWN, after_shutdown(s))


@action
def GrantShutdown(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """b leads no partition in the index any more, and the controller fences it (SHUTDOWN_NOW).

    The model has no brokers, and so no condition that all active brokers have read this.
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    require(runs(s), "the controller has not resigned")
    r = s.registration[b]
    require(r.in_controlled_shutdown and not r.fenced, "b is shutting down")
    require(knows_epoch(c, s, b), "b knows its broker epoch")
    require(not has_leaderships(s, b), "b leads no partition")
    return replace(
        s, registration=decide(c, controller_alone(c, s), GrantShutdownEvent(broker=b)).controller.registration
    )


@action
def Unregister(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """An operator unregisters b (handleBrokerUnregistered), which reads both indexes."""
    require(c.unregistrations > 0, "the scope has unregistrations")
    require(runs(s), "the controller has not resigned")
    require(s.registration[b].registered, "b is registered")
    spent = replace(s.spent, unregistrations=s.spent.unregistrations + 1)
    return committed(c, s, unregistration_batch(c, s, b), Fault.UNREGISTRATION, spent)


# ---------------------------------------------------------------------------- log directories


@op
def partitions_of_state(s: ControllerState, b: Replica, becomes: ControlState) -> frozenset[Place]:
    """The partitions that a heartbeat looks up for the new state of its broker."""
    if becomes == ControlState.UNFENCED:
        return s.indexes.leaderless
    return EMPTY if becomes == ControlState.UNCHANGED else partitions_with_isr(s, b)


@op
def may_become(s: ControllerState, b: Replica, becomes: ControlState) -> bool:
    """BrokerHeartbeatManager.calculateNextBrokerState"""
    r = s.registration[b]
    if becomes == ControlState.UNFENCED:
        return r.fenced and not r.in_controlled_shutdown
    if becomes == ControlState.CONTROLLED_SHUTDOWN:
        return is_active(r) and has_leaderships(s, b)
    return becomes == ControlState.UNCHANGED or not r.fenced


@action
def FailDirectory(c: ControllerConfig, s: ControllerState, b: Replica, becomes: ControlState) -> ControllerState:
    """A heartbeat of b lists the log directory in use as offline (handleDirectoriesOffline).

    It may also change the state of b; the controller builds both parts of the batch from the current topics.
    """
    require(c.directory_failures > 0, "the scope has directories that fail")
    require(runs(s), "the controller has not resigned")
    require(s.registration[b].registered and may_become(s, b, becomes), "b may change to that state")
    require(knows_epoch(c, s, b), "b knows its broker epoch")
    deleted = b in s.indexes.deleted_directories
    require(s.indexes.directories[b] != EMPTY or deleted, "the index lists replicas in the directory")
    event = DirectoryFailedEvent(broker=b, becomes=becomes)
    changed = decide(c, controller_alone(c, s), event).controller.registration
    batch = EventRecords(
        places=s.indexes.directories[b] | partitions_of_state(s, b, becomes),
        decided=tuple(
            tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
        ),
        registration=put(changed, b, replace(changed[b], directory=s.registration[b].directory)),
        unknown=deleted,
    )
    spent = replace(s.spent, directory_failures=s.spent.directory_failures + 1)
    return committed(c, s, batch, Fault.FAILED_DIRECTORY, spent)


@action
def MoveReplica(c: ControllerConfig, s: ControllerState, t: Topic, p: Part, b: Replica) -> ControllerState:
    """b reports another directory for a replica in a failed one (handleAssignReplicasToDirs)."""
    require(c.directory_failures > 0, "the scope has directories that fail")
    require(runs(s), "the controller has not resigned")
    require(s.topics[t].exists, "the partition exists")
    require(s.topics[t].parts[p].directory[b] == Directory.OFFLINE, "its directory has failed")
    decided = decide(c, controller_at(c, s, t, p), DirectoryMovedEvent(broker=b))
    require(decided.error == Error.NONE, "the controller accepts the report")
    return decided_at(c, s, t, p, decided, s.spent)


# ---------------------------------------------------------------------------- AlterPartition


@op
def altered(c: ControllerConfig, s: ControllerState, t: Topic, p: Part, leader: Replica, isr: RSet) -> Decided:
    """The decision about an AlterPartition of a leader that has read all metadata."""
    image = s.topics[t].parts[p].partition
    request = AlterPartitionEvent(
        sender=leader,
        sender_epoch=s.registration[leader].epoch,
        leader_epoch=image.leader_epoch,
        partition_epoch=image.partition_epoch,
        isr=isr,
        member_epochs=tuple(s.registration[b].epoch for b in c.brokers),
        recovery=Recovery.RECOVERED,
    )
    return decide(c, controller_at(c, s, t, p), request)


@action
def AddMember(
    c: ControllerConfig, s: ControllerState, t: Topic, p: Part, leader: Replica, b: Replica
) -> ControllerState:
    """The leader of a partition adds b to its ISR (AlterPartition)."""
    require(runs(s), "the controller has not resigned")
    image = s.topics[t].parts[p].partition
    require(image.leader == leader, "leader leads the partition")
    require(knows_epoch(c, s, leader), "leader knows its broker epoch")
    require(b in image.replicas and b not in image.isr, "b is a replica outside the ISR")
    decided = altered(c, s, t, p, leader, image.isr | {b})
    require(decided.error == Error.NONE, "the request is granted")
    return decided_at(c, s, t, p, decided, s.spent)


@action
def DropMember(
    c: ControllerConfig, s: ControllerState, t: Topic, p: Part, leader: Replica, b: Replica
) -> ControllerState:
    """The leader of a partition removes b from its ISR (AlterPartition)."""
    require(c.shrinks > 0, "the scope has shrinks")
    require(runs(s), "the controller has not resigned")
    image = s.topics[t].parts[p].partition
    require(image.leader == leader and b != leader, "leader leads the partition, and is not b")
    require(knows_epoch(c, s, leader), "leader knows its broker epoch")
    require(b in image.isr, "b is in the ISR")
    decided = altered(c, s, t, p, leader, image.isr - {b})
    require(decided.error == Error.NONE, "the request is granted")
    return decided_at(c, s, t, p, decided, replace(s.spent, shrinks=s.spent.shrinks + 1))
