"""Every event of the controller, applied to arbitrary partitions, registrations and settings.

A `Controller` is the input of the controller's decisions; an `AnyEvent` is an event of any kind. `decided` passes it to
the model's own `decide`; `possible` states the preconditions. Brokers may run, lag or lie: their state is not modelled
here.

The module is written in the modelling language, so that the proof (`elrcheck.kafka.controller_proof`)
and plain Python read the same text. A test compares it with the actions of the model.
"""

from __future__ import annotations

import enum

from elrcheck.lang.runtime import op, record
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import (
    AlterPartitionEvent,
    BalanceEvent,
    CancelReassignmentEvent,
    ControlState,
    CreatePartitionEvent,
    Decided,
    DirectoriesEvent,
    DirectoryFailedEvent,
    DirectoryMovedEvent,
    ElectionType,
    ElectLeadersEvent,
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
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.recovery import answer_counts
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import BrokerEpoch, LogInfo, MinIsr, ReplicaList


class EventKind(enum.Enum):
    """The kinds of controller events that affect a partition."""

    FENCE = "fence"
    UNFENCE = "unfence"
    REGISTER_CLEAN = "register after a clean stop"
    REGISTER_UNCLEAN = "register after an unclean stop"
    START_SHUTDOWN = "start a controlled shutdown"
    GRANT_SHUTDOWN = "grant a controlled shutdown"
    UNREGISTER = "unregister"
    ALTER_PARTITION = "AlterPartition"
    ELECT_PREFERRED = "elect the preferred leader"
    BALANCE_PREFERRED = "balance the preferred leader"
    ELECT_UNCLEAN = "elect uncleanly on request"
    ELECT_UNCLEAN_PERIODIC = "elect uncleanly, periodic"
    DESIGNATE = "designate a leader"
    FINISH_RECOVERY = "finish an unclean recovery"
    REASSIGN = "reassign"
    CANCEL_REASSIGNMENT = "cancel a reassignment"
    MIN_ISR_TOPIC = "min ISR of the topic"
    MIN_ISR_CLUSTER = "min ISR of the cluster"
    MIN_ISR_BROKER = "min ISR of a broker"
    MIN_ISR_DELETED = "min ISR of the topic deleted"
    FEATURE_ON = "ELR switched on"
    FEATURE_OFF = "ELR switched off"
    ASSIGN_DIRECTORIES = "assign directories"
    DIRECTORY_FAILED = "a directory failed"
    UNFENCE_WITHOUT_DIRECTORY = "unfence, a directory failed"
    DIRECTORY_MOVED = "a replica is in another directory"
    CREATE_PARTITION = "create the partition"


@record
class AnyEvent:
    """An event of any kind, with the fields of all kinds; `USED` lists those that each kind reads.

    broker: the broker concerned. presented: the epoch in its clean-shutdown file, 0 without one.
    brings_directory: it registers with the log directory recorded for its replica.
    replicas: the new list of a reassignment or partition. value: of min.insync.replicas. info: the winner's log info.
    """

    kind: EventKind
    broker: Replica
    presented: BrokerEpoch
    brings_directory: bool
    request: AlterPartitionEvent
    replicas: ReplicaList
    value: MinIsr
    info: LogInfo


_OF_BROKER = (
    EventKind.FENCE,
    EventKind.UNFENCE,
    EventKind.START_SHUTDOWN,
    EventKind.GRANT_SHUTDOWN,
    EventKind.UNREGISTER,
    EventKind.DESIGNATE,
    EventKind.DIRECTORY_FAILED,
    EventKind.UNFENCE_WITHOUT_DIRECTORY,
    EventKind.DIRECTORY_MOVED,
)
USED: dict[EventKind, tuple[str, ...]] = {
    **dict.fromkeys(EventKind, ()),
    **dict.fromkeys(_OF_BROKER, ("broker",)),
    EventKind.REGISTER_CLEAN: ("broker", "presented", "brings_directory"),
    EventKind.REGISTER_UNCLEAN: ("broker", "presented", "brings_directory"),
    EventKind.ALTER_PARTITION: ("request",),
    EventKind.FINISH_RECOVERY: ("broker", "info"),
    EventKind.REASSIGN: ("replicas",),
    EventKind.MIN_ISR_TOPIC: ("value",),
    EventKind.MIN_ISR_CLUSTER: ("value",),
    EventKind.MIN_ISR_BROKER: ("broker", "value"),
    EventKind.CREATE_PARTITION: ("replicas",),
}


@op
def distinct(replicas: ReplicaList) -> bool:
    """No broker occurs twice in the list."""
    return all(all(replicas[i] != replicas[k] for i in range(k)) for k in range(len(replicas)))


# ---------------------------------------------------------------------------- decisions


@op
def decided(c: Config, s: Controller, e: AnyEvent) -> Decided:
    """The controller's decision about the event, converted to the record of its kind."""
    if e.kind == EventKind.FENCE:
        return decide(c, s, FenceEvent(broker=e.broker))
    if e.kind == EventKind.UNFENCE:
        return decide(c, s, UnfenceEvent(broker=e.broker))
    if e.kind == EventKind.REGISTER_CLEAN or e.kind == EventKind.REGISTER_UNCLEAN:
        comes = RegisterEvent(broker=e.broker, presented=e.presented, brings_directory=e.brings_directory)
        return decide(c, s, comes)
    if e.kind == EventKind.START_SHUTDOWN:
        return decide(c, s, StartShutdownEvent(broker=e.broker))
    if e.kind == EventKind.GRANT_SHUTDOWN:
        return decide(c, s, GrantShutdownEvent(broker=e.broker))
    if e.kind == EventKind.UNREGISTER:
        return decide(c, s, UnregisterEvent(broker=e.broker))
    if e.kind == EventKind.ALTER_PARTITION:
        return decide(c, s, e.request)
    if e.kind == EventKind.ELECT_PREFERRED:
        return decide(c, s, ElectLeadersEvent(election=ElectionType.PREFERRED, desired=None))
    if e.kind == EventKind.BALANCE_PREFERRED:
        return decide(c, s, BalanceEvent())
    if e.kind == EventKind.ELECT_UNCLEAN:
        return decide(c, s, ElectLeadersEvent(election=ElectionType.UNCLEAN, desired=None))
    if e.kind == EventKind.ELECT_UNCLEAN_PERIODIC:
        return decide(c, s, PeriodicElectionEvent())
    if e.kind == EventKind.DESIGNATE:
        return decide(c, s, ElectLeadersEvent(election=ElectionType.DESIGNATION, desired=e.broker))
    if e.kind == EventKind.FINISH_RECOVERY:
        return decide(c, s, FinishRecoveryEvent(winner=e.broker))
    if e.kind == EventKind.REASSIGN:
        return decide(c, s, ReassignEvent(replicas=e.replicas))
    if e.kind == EventKind.CANCEL_REASSIGNMENT:
        return decide(c, s, CancelReassignmentEvent())
    if e.kind == EventKind.MIN_ISR_TOPIC:
        return decide(c, s, MinIsrEvent(level=MinIsrLevel.TOPIC, broker=e.broker, value=e.value))
    if e.kind == EventKind.MIN_ISR_CLUSTER:
        return decide(c, s, MinIsrEvent(level=MinIsrLevel.CLUSTER, broker=e.broker, value=e.value))
    if e.kind == EventKind.MIN_ISR_BROKER:
        return decide(c, s, MinIsrEvent(level=MinIsrLevel.BROKER, broker=e.broker, value=e.value))
    if e.kind == EventKind.MIN_ISR_DELETED:
        return decide(c, s, MinIsrEvent(level=MinIsrLevel.TOPIC, broker=e.broker, value=None))
    if e.kind == EventKind.FEATURE_ON or e.kind == EventKind.FEATURE_OFF:
        return decide(c, s, FeatureEvent(enabled=e.kind == EventKind.FEATURE_ON))
    if e.kind == EventKind.ASSIGN_DIRECTORIES:
        return decide(c, s, DirectoriesEvent(moved=True))
    if e.kind == EventKind.DIRECTORY_FAILED:
        return decide(c, s, DirectoryFailedEvent(broker=e.broker, becomes=ControlState.UNCHANGED))
    if e.kind == EventKind.UNFENCE_WITHOUT_DIRECTORY:
        return decide(c, s, DirectoryFailedEvent(broker=e.broker, becomes=ControlState.UNFENCED))
    if e.kind == EventKind.DIRECTORY_MOVED:
        return decide(c, s, DirectoryMovedEvent(broker=e.broker))
    return decide(c, s, CreatePartitionEvent(replicas=e.replicas))


@op
def after(c: Config, s: Controller, e: AnyEvent) -> Controller:
    """The controller after the event."""
    return decided(c, s, e).controller


# ---------------------------------------------------------------------------- preconditions


@op
def can_arrive(c: Config, s: Controller, e: AnyEvent) -> bool:
    """The preconditions of an event: its sender and its content."""
    r = s.registration[e.broker]
    if (
        e.kind == EventKind.FENCE
        or e.kind == EventKind.START_SHUTDOWN
        or e.kind == EventKind.GRANT_SHUTDOWN
        or e.kind == EventKind.DIRECTORY_FAILED
    ):
        return r.registered
    if e.kind == EventKind.UNFENCE or e.kind == EventKind.UNFENCE_WITHOUT_DIRECTORY:
        # BrokerHeartbeatManager: a broker that shuts down stays fenced
        return r.registered and not r.in_controlled_shutdown
    if e.kind == EventKind.REGISTER_CLEAN:
        return may_register(c, s, e) and r.registered and e.presented == r.epoch
    if e.kind == EventKind.REGISTER_UNCLEAN:
        return may_register(c, s, e) and not (r.registered and e.presented == r.epoch)
    if e.kind == EventKind.FINISH_RECOVERY:
        manager = c.unclean_recovery_strategy != RecoveryStrategy.DISABLED or c.elect_leaders_v3
        answered = answer_counts(c, s, e.broker, e.info)
        leaderless = s.partition.leader is None
        return manager and leaderless and e.broker in frozenset(s.partition.replicas) and answered
    if e.kind == EventKind.REASSIGN or e.kind == EventKind.CREATE_PARTITION:
        return distinct(e.replicas)
    if e.kind == EventKind.MIN_ISR_DELETED:
        return s.settings.topic_min_isr is not None
    if e.kind == EventKind.FEATURE_ON:
        return c.elr_enabled and not s.settings.elr_enabled
    if e.kind == EventKind.FEATURE_OFF:
        return s.settings.elr_enabled
    return True


@op
def may_register(c: Config, s: Controller, e: AnyEvent) -> bool:
    """The session of the previous incarnation has expired."""
    return s.registration[e.broker].fenced or c.register_before_fence


@op
def may_be_refused(e: AnyEvent) -> bool:
    """A rejected request is an event, too: it must change nothing."""
    return (
        e.kind == EventKind.ALTER_PARTITION
        or e.kind == EventKind.ELECT_PREFERRED
        or e.kind == EventKind.BALANCE_PREFERRED
        or e.kind == EventKind.ELECT_UNCLEAN
        or e.kind == EventKind.ELECT_UNCLEAN_PERIODIC
        or e.kind == EventKind.REASSIGN
        or e.kind == EventKind.CANCEL_REASSIGNMENT
    )


@op
def possible(c: Config, s: Controller, e: AnyEvent) -> bool:
    """The event can happen, and the controller accepts it, unless a rejection counts."""
    error = decided(c, s, e).error
    if e.kind == EventKind.DESIGNATE:
        return error != Error.UNSUPPORTED_VERSION
    return can_arrive(c, s, e) and (error == Error.NONE or may_be_refused(e))
