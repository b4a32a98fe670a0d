"""The controller's decision about an event: the error in its response, and its state afterwards.

This is the only place that turns a rule into an event. An action of the model consists of the guards of its broker, the
decision, and the reaction of brokers; the proof, `what-if`, `conform`, `audit` and exported tests call `decide`, too.
A rejected event changes nothing. UNKNOWN_SERVER_ERROR stands for an exception: a request returns it to its caller; in
any other event it is a fault of the controller.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, dispatch, op, put
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import (
    alter_partition,
    fence_fails,
    fenced_partition,
    new_incarnation,
    registered_partition,
    registration_fails,
    shutdown_was_clean,
    unfence_fails,
    unfenced_partition,
    unregistered_partition,
    unregistration_fails,
    vouches,
)
from elrcheck.model.control_plane.controller_event import (
    AlterPartitionEvent,
    BalanceEvent,
    CancelReassignmentEvent,
    ControlState,
    CreatePartitionEvent,
    Decided,
    Decision,
    DirectoriesEvent,
    DirectoryFailedEvent,
    DirectoryMovedEvent,
    ElectionType,
    ElectLeadersEvent,
    Event,
    FeatureEvent,
    FenceEvent,
    FinishRecoveryEvent,
    GrantShutdownEvent,
    MinIsrEvent,
    MinIsrLevel,
    PeriodicElectionEvent,
    ReassignEvent,
    RegisterEvent,
    StartShutdownEvent,
    UnfenceEvent,
    UnregisterEvent,
)
from elrcheck.model.control_plane.creation import created_partition, initial_isr
from elrcheck.model.control_plane.directories import (
    directory_failure_fails,
    replayed,
    with_new_directory,
    without_directory,
)
from elrcheck.model.control_plane.elections import (
    balance_fails,
    balance_preferred,
    designate,
    elect_preferred,
    elect_unclean,
    maybe_elect_unclean,
    periodic_election_fails,
)
from elrcheck.model.control_plane.operator_settings import (
    directories_assigned,
    directories_fail,
    directories_reported,
    feature_switched,
    index_after,
    min_isr_changed,
    min_isr_error,
    min_isr_recorded,
    with_feature,
    with_min_isr,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, reassign
from elrcheck.model.control_plane.recovery import longest_log_error, recovered_partition
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller, registered
from elrcheck.model.state import Directory, Partition, Registration


@dispatch
def decide(c: Config, controller: Controller, event: Event) -> Decided:
    """The controller handles one event."""
    match event:
        case FenceEvent():
            return fence_decided(c, controller, event)
        case UnfenceEvent():
            return unfence_decided(c, controller, event)
        case RegisterEvent():
            return registration_decided(c, controller, event)
        case StartShutdownEvent():
            return shutdown_decided(c, controller, event)
        case GrantShutdownEvent():
            return grant_decided(c, controller, event)
        case UnregisterEvent():
            return unregistration_decided(c, controller, event)
        case DirectoryFailedEvent():
            return directory_failure_decided(c, controller, event)
        case DirectoryMovedEvent():
            return directory_move_decided(c, controller, event)
        case DirectoriesEvent():
            return directories_decided(c, controller, event)
        case AlterPartitionEvent():
            return alter_partition_decided(c, controller, event)
        case BalanceEvent():
            return balance_decided(c, controller, event)
        case PeriodicElectionEvent():
            return periodic_election_decided(c, controller, event)
        case FinishRecoveryEvent():
            return recovery_decided(c, controller, event)
        case ElectLeadersEvent():
            return election_decided(c, controller, event)
        case ReassignEvent():
            return reassignment_decided(c, controller, event)
        case CancelReassignmentEvent():
            return cancellation_decided(c, controller, event)
        case MinIsrEvent():
            return min_isr_decided(c, controller, event)
        case FeatureEvent():
            return feature_decided(c, controller, event)
        case CreatePartitionEvent():
            return creation_decided(c, controller, event)


# ---------------------------------------------------------------------------- kinds of decisions


@op
def refused(controller: Controller, error: Error) -> Decided:
    """No change: the event is rejected or, with NONE, has no effect."""
    return Decided(error=error, controller=controller)


@op
def with_partition(controller: Controller, decision: Decision) -> Decided:
    """A decision about the partition alone."""
    return Decided(error=decision.error, controller=replace(controller, partition=decision.partition))


@op
def with_broker(controller: Controller, p: Partition, b: Replica, r: Registration) -> Decided:
    """A decision that changes the registration of a broker and may change the partition."""
    after = replace(controller, partition=p, registration=put(controller.registration, b, r))
    return Decided(error=Error.NONE, controller=after)


# ---------------------------------------------------------------------------- brokers


@op
def fence_decided(c: Config, controller: Controller, event: FenceEvent) -> Decided:
    """A fenced broker has no session that could expire."""
    b = event.broker
    r = controller.registration[b]
    if r.fenced:
        return refused(controller, Error.NONE)
    if fence_fails(c, controller, b):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    return with_broker(controller, fenced_partition(c, controller, b), b, replace(r, fenced=True))


@op
def unfence_decided(c: Config, controller: Controller, event: UnfenceEvent) -> Decided:
    """handleBrokerUnfenced only checks that the broker is fenced; the heartbeat has checked more before."""
    b = event.broker
    r = controller.registration[b]
    if not r.fenced:
        return refused(controller, Error.NONE)
    if unfence_fails(c, controller, b):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    return with_broker(controller, unfenced_partition(c, controller, b), b, replace(r, fenced=False))


@op
def registration_decided(c: Config, controller: Controller, event: RegisterEvent) -> Decided:
    """The session of an unfenced incarnation counts as expired, so the registration is never a duplicate."""
    b = event.broker
    old = controller.registration[b]
    clean = vouches(c, old, shutdown_was_clean(c, event.presented, old.epoch), event.brings_directory)
    if registration_fails(c, controller, b, clean):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    after = registered_partition(c, controller, b, clean)
    return with_broker(controller, after, b, new_incarnation(old, event.brings_directory))


@op
def shutdown_decided(c: Config, controller: Controller, event: StartShutdownEvent) -> Decided:
    """The broker leaves the ISR and stays unfenced until the other brokers have read this (KIP-841)."""
    b = event.broker
    r = controller.registration[b]
    if r.fenced or r.in_controlled_shutdown:
        return refused(controller, Error.NONE)
    if fence_fails(c, controller, b):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    after = fenced_partition(c, controller, b)
    leaving = replace(r, in_controlled_shutdown=True, shutdown_offset=after.partition_epoch)
    return with_broker(controller, after, b, leaving)


@op
def grant_decided(c: Config, controller: Controller, event: GrantShutdownEvent) -> Decided:
    """The partition does not change: the broker left the ISR when its shutdown began."""
    b = event.broker
    r = controller.registration[b]
    if r.fenced or not r.in_controlled_shutdown or controller.partition.leader == b:
        return refused(controller, Error.NONE)
    return with_broker(controller, controller.partition, b, replace(r, fenced=True))


@op
def unregistration_decided(c: Config, controller: Controller, event: UnregisterEvent) -> Decided:
    """unregisterBroker only checks that the broker is registered, not that it is down."""
    b = event.broker
    r = controller.registration[b]
    if not r.registered:
        return refused(controller, Error.BROKER_ID_NOT_REGISTERED)
    if unregistration_fails(c, controller, b):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    gone = replace(r, registered=False, fenced=True, in_controlled_shutdown=False)
    return with_broker(controller, unregistered_partition(c, controller, b), b, gone)


@op
def alter_partition_decided(c: Config, controller: Controller, event: AlterPartitionEvent) -> Decided:
    """NEW_LEADER_ELECTED is the response to a request that the controller has granted."""
    return with_partition(controller, alter_partition(c, controller, event))


# ---------------------------------------------------------------------------- log directories


@op
def directory_failure_decided(c: Config, controller: Controller, event: DirectoryFailedEvent) -> Decided:
    """The builder makes both records of a heartbeat from one snapshot, or one after the other, the directory's first.

    The controller acts only if the replica has that directory in its registration.
    """
    b = event.broker
    if controller.registration[b].directory != Directory.ONLINE:
        return control_state_decided(c, controller, event)
    if directory_failure_fails(c, controller, b):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    failed = directory_offline(c, controller, b)
    changed = control_state_decided(c, controller if c.heartbeat_in_one_snapshot else failed, event)
    if changed.error != Error.NONE:
        return refused(controller, changed.error)
    if not c.heartbeat_in_one_snapshot:
        return changed
    after = replayed(controller.partition, changed.controller.partition, failed.partition)
    r = changed.controller.registration[b]
    return with_broker(changed.controller, after, b, replace(r, directory=Directory.OFFLINE))


@op
def directory_offline(c: Config, controller: Controller, b: Replica) -> Controller:
    failed = replace(controller.registration[b], directory=Directory.OFFLINE)
    registration = put(controller.registration, b, failed)
    return replace(controller, partition=without_directory(c, controller, b), registration=registration)


@op
def control_state_decided(c: Config, controller: Controller, event: DirectoryFailedEvent) -> Decided:
    """The next state of the broker that sent the heartbeat (BrokerHeartbeatManager.calculateNextBrokerState)."""
    if event.becomes == ControlState.FENCED:
        return fence_decided(c, controller, FenceEvent(broker=event.broker))
    if event.becomes == ControlState.UNFENCED:
        return unfence_decided(c, controller, UnfenceEvent(broker=event.broker))
    if event.becomes == ControlState.CONTROLLED_SHUTDOWN:
        return shutdown_decided(c, controller, StartShutdownEvent(broker=event.broker))
    return Decided(error=Error.NONE, controller=controller)


@op
def directory_move_decided(c: Config, controller: Controller, event: DirectoryMovedEvent) -> Decided:
    """The controller checks the broker epoch first, which is stale for an unregistered broker."""
    b = event.broker
    r = controller.registration[b]
    if not r.registered:
        return refused(controller, Error.STALE_BROKER_EPOCH)
    if b not in frozenset(controller.partition.replicas):
        return refused(controller, Error.NOT_LEADER_OR_FOLLOWER)
    if directories_fail(c, controller):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    after = with_new_directory(c, controller, b)
    return with_broker(controller, after, b, replace(r, directory=Directory.ONLINE))


@op
def directories_decided(c: Config, controller: Controller, event: DirectoriesEvent) -> Decided:
    if directories_fail(c, controller):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    after = directories_assigned(c, controller) if event.moved else directories_reported(c, controller)
    return Decided(error=Error.NONE, controller=replace(controller, partition=after))


# ---------------------------------------------------------------------------- elections


@op
def balance_decided(c: Config, controller: Controller, event: BalanceEvent) -> Decided:
    if balance_fails(c, controller):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    return Decided(error=Error.NONE, controller=replace(controller, partition=balance_preferred(c, controller)))


@op
def periodic_election_decided(c: Config, controller: Controller, event: PeriodicElectionEvent) -> Decided:
    if periodic_election_fails(c, controller):
        return refused(controller, Error.UNKNOWN_SERVER_ERROR)
    return Decided(error=Error.NONE, controller=replace(controller, partition=maybe_elect_unclean(c, controller)))


@op
def recovery_decided(c: Config, controller: Controller, event: FinishRecoveryEvent) -> Decided:
    """The election of a winner that the recovery manager has already chosen."""
    after = recovered_partition(c, controller, event.winner)
    return Decided(error=Error.NONE, controller=replace(controller, partition=after))


@op
def election_decided(c: Config, controller: Controller, event: ElectLeadersEvent) -> Decided:
    """A longest-log request only starts a recovery, which elects later."""
    if event.election == ElectionType.PREFERRED:
        return with_partition(controller, elect_preferred(c, controller))
    if event.election == ElectionType.UNCLEAN:
        return with_partition(controller, elect_unclean(c, controller))
    if event.election == ElectionType.DESIGNATION:
        return with_partition(controller, designate(c, controller, event.desired))
    aggressive = event.election == ElectionType.LONGEST_LOG_AGGRESSIVE
    strategy = RecoveryStrategy.AGGRESSIVE if aggressive else RecoveryStrategy.BALANCED
    return refused(controller, longest_log_error(c, controller, strategy))


# ---------------------------------------------------------------------------- operators


@op
def reassignment_decided(c: Config, controller: Controller, event: ReassignEvent) -> Decided:
    return with_partition(controller, reassign(c, controller, event.replicas))


@op
def cancellation_decided(c: Config, controller: Controller, event: CancelReassignmentEvent) -> Decided:
    return with_partition(controller, cancel_reassignment(c, controller))


@op
def min_isr_decided(c: Config, controller: Controller, event: MinIsrEvent) -> Decided:
    """A broker's value changes no partition, since brokers have no values while ELR is on (KAFKA-16540)."""
    error = min_isr_error(controller.settings, event.level, event.value)
    if error != Error.NONE:
        return refused(controller, error)
    settings = with_min_isr(controller.settings, event.level, event.broker, event.value)
    if event.level == MinIsrLevel.BROKER:
        return Decided(error=Error.NONE, controller=replace(controller, settings=settings))
    before = controller.partition
    cleared = min_isr_changed(c, controller.settings, settings, before, event.level)
    after = min_isr_recorded(c, before, cleared)
    index = index_after(c, controller.registration, before, after)
    updated = replace(controller, settings=settings, partition=after, registration=index)
    return Decided(error=Error.NONE, controller=updated)


@op
def feature_decided(c: Config, controller: Controller, event: FeatureEvent) -> Decided:
    """Finalizing the current version again is no change."""
    if event.enabled == controller.settings.elr_enabled:
        return refused(controller, Error.NONE)
    settings = with_feature(c, controller.settings, event.enabled)
    after = feature_switched(c, controller.partition, event.enabled)
    return Decided(error=Error.NONE, controller=replace(controller, settings=settings, partition=after))


@op
def creation_decided(c: Config, controller: Controller, event: CreatePartitionEvent) -> Decided:
    """All brokers of a manual assignment must be registered, and one of them active (createTopics)."""
    strangers = frozenset(event.replicas) - registered(c, controller.registration)
    if strangers != EMPTY or initial_isr(c, controller.registration, event.replicas) == EMPTY:
        return refused(controller, Error.INVALID_REPLICA_ASSIGNMENT)
    after = created_partition(c, controller.registration, event.replicas)
    return Decided(error=Error.NONE, controller=replace(controller, partition=after))
