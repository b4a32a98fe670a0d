"""Every event of the controller, applied to arbitrary partitions, registrations and settings.

A `Controller` holds the data the controller decides from; an `Event` is one thing that happens to it.
`possible` states the few conditions the controller itself requires before it acts; `after` calls the same
rule of the model as the action of that name. Brokers may run, lag or lie: their state is not modelled here.

The module is written in the modelling language, so that the proof (`elrcheck.commands.prove_controller`)
and plain Python read the same text. A test compares it with the actions of the model.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, put, record
from elrcheck.lang.types import Replica
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
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent, MinIsrLevel
from elrcheck.model.control_plane.creation import created_partition, initial_isr
from elrcheck.model.control_plane.directories import with_new_directory, without_directory
from elrcheck.model.control_plane.elections import (
    balance_preferred,
    designate,
    elect_preferred,
    elect_unclean,
    maybe_elect_unclean,
)
from elrcheck.model.control_plane.operator_settings import (
    directories_assigned,
    directories_fail,
    feature_switched,
    index_after,
    min_isr_changed,
    min_isr_error,
    min_isr_recorded,
    with_feature,
    with_min_isr,
    without_topic_min_isr,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, reassign
from elrcheck.model.control_plane.recovery import answer_counts, recovered_partition
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import (
    BrokerEpoch,
    Directory,
    Error,
    LogInfo,
    MinIsr,
    Partition,
    Registration,
    ReplicaList,
    Settings,
)


class EventKind(enum.Enum):
    """What can happen to a partition at its controller."""

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
    DIRECTORY_MOVED = "a replica is in another directory"
    CREATE_PARTITION = "create the partition"


@record
class Event:
    """An event with every field it may carry; `USED` lists the fields that each kind reads.

    broker: the broker concerned. presented: the epoch in its clean-shutdown file, 0 without one.
    brings_directory: it registers with the log directory recorded for its replica.
    wanted: the new replica list. value: of min.insync.replicas. info: the winner's log info.
    """

    kind: EventKind
    broker: Replica
    presented: BrokerEpoch
    brings_directory: bool
    request: AlterPartitionEvent
    wanted: ReplicaList
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
    EventKind.DIRECTORY_MOVED,
)
USED: dict[EventKind, tuple[str, ...]] = {
    **dict.fromkeys(EventKind, ()),
    **dict.fromkeys(_OF_BROKER, ("broker",)),
    EventKind.REGISTER_CLEAN: ("broker", "presented", "brings_directory"),
    EventKind.REGISTER_UNCLEAN: ("broker", "presented", "brings_directory"),
    EventKind.ALTER_PARTITION: ("request",),
    EventKind.FINISH_RECOVERY: ("broker", "info"),
    EventKind.REASSIGN: ("wanted",),
    EventKind.MIN_ISR_TOPIC: ("value",),
    EventKind.MIN_ISR_CLUSTER: ("value",),
    EventKind.MIN_ISR_BROKER: ("broker", "value"),
    EventKind.CREATE_PARTITION: ("wanted",),
}


@op
def distinct(replicas: ReplicaList) -> bool:
    """No broker occurs twice in the list."""
    return all(all(replicas[i] != replicas[k] for i in range(k)) for k in range(len(replicas)))


@op
def level_of(kind: EventKind) -> MinIsrLevel:
    """The level at which min ISR is changed: topic, cluster or broker."""
    if kind == EventKind.MIN_ISR_TOPIC or kind == EventKind.MIN_ISR_DELETED:
        return MinIsrLevel.TOPIC
    return MinIsrLevel.CLUSTER if kind == EventKind.MIN_ISR_CLUSTER else MinIsrLevel.BROKER


# ---------------------------------------------------------------------------- when


@op
def possible(c: Config, s: Controller, e: Event) -> bool:
    """The condition under which the event can happen; refusals by the controller are in `after`."""
    r = s.registration[e.broker]
    if e.kind == EventKind.FENCE:
        return r.registered and not r.fenced and not fence_fails(c, s, e.broker)
    if e.kind == EventKind.UNFENCE:
        stopped = not r.in_controlled_shutdown
        return r.registered and r.fenced and stopped and not unfence_fails(c, s, e.broker)
    if e.kind == EventKind.REGISTER_CLEAN:
        known = r.registered and e.presented == r.epoch
        clean = vouches(c, r, shutdown_was_clean(c, e.presented, r.epoch), e.brings_directory)
        over = r.fenced or c.register_before_fence
        return over and known and not registration_fails(c, s, e.broker, clean)
    if e.kind == EventKind.REGISTER_UNCLEAN:
        known = r.registered and e.presented == r.epoch
        clean = vouches(c, r, shutdown_was_clean(c, e.presented, r.epoch), e.brings_directory)
        over = r.fenced or c.register_before_fence
        return over and not known and not registration_fails(c, s, e.broker, clean)
    if e.kind == EventKind.START_SHUTDOWN:
        serves = r.registered and not r.fenced and not r.in_controlled_shutdown
        return serves and not fence_fails(c, s, e.broker)
    if e.kind == EventKind.GRANT_SHUTDOWN:
        return r.in_controlled_shutdown and not r.fenced and s.partition.leader != e.broker
    if e.kind == EventKind.UNREGISTER:
        return r.registered and not unregistration_fails(c, s, e.broker)
    if e.kind == EventKind.ASSIGN_DIRECTORIES:
        return not directories_fail(c, s)
    if e.kind == EventKind.DIRECTORY_MOVED:
        return r.registered and e.broker in frozenset(s.partition.replicas) and not directories_fail(c, s)
    if e.kind == EventKind.DIRECTORY_FAILED:
        return r.registered and r.directory == Directory.ONLINE
    if e.kind == EventKind.DESIGNATE:
        return c.elect_leaders_v3
    if e.kind == EventKind.FINISH_RECOVERY:
        manager = c.unclean_recovery_strategy != RecoveryStrategy.DISABLED or c.elect_leaders_v3
        answered = answer_counts(c, s, e.broker, e.info)
        leaderless = s.partition.leader is None
        return manager and leaderless and e.broker in frozenset(s.partition.replicas) and answered
    if e.kind == EventKind.REASSIGN:
        return distinct(e.wanted)
    if (
        e.kind == EventKind.MIN_ISR_TOPIC
        or e.kind == EventKind.MIN_ISR_CLUSTER
        or e.kind == EventKind.MIN_ISR_BROKER
    ):
        return min_isr_error(s.settings, level_of(e.kind), e.value) == Error.NONE
    if e.kind == EventKind.MIN_ISR_DELETED:
        return s.settings.topic_min_isr is not None
    if e.kind == EventKind.FEATURE_ON:
        return c.elr_enabled and not s.settings.elr_enabled
    if e.kind == EventKind.FEATURE_OFF:
        return s.settings.elr_enabled
    if e.kind == EventKind.CREATE_PARTITION:
        return distinct(e.wanted) and initial_isr(c, s.registration, e.wanted) != EMPTY
    return True


# ---------------------------------------------------------------------------- what


@op
def partition_after(c: Config, s: Controller, e: Event) -> Partition:
    """The partition after an event that changes no settings."""
    if e.kind == EventKind.FENCE or e.kind == EventKind.START_SHUTDOWN:
        return fenced_partition(c, s, e.broker)
    if e.kind == EventKind.UNFENCE:
        return unfenced_partition(c, s, e.broker)
    if e.kind == EventKind.REGISTER_CLEAN or e.kind == EventKind.REGISTER_UNCLEAN:
        old = s.registration[e.broker]
        clean = vouches(c, old, shutdown_was_clean(c, e.presented, old.epoch), e.brings_directory)
        return registered_partition(c, s, e.broker, clean)
    if e.kind == EventKind.UNREGISTER:
        return unregistered_partition(c, s, e.broker)
    if e.kind == EventKind.ALTER_PARTITION:
        return alter_partition(c, s, e.request).partition
    if e.kind == EventKind.ELECT_PREFERRED:
        return elect_preferred(c, s).partition
    if e.kind == EventKind.BALANCE_PREFERRED:
        return balance_preferred(c, s)
    if e.kind == EventKind.ELECT_UNCLEAN:
        return elect_unclean(c, s).partition
    if e.kind == EventKind.ELECT_UNCLEAN_PERIODIC:
        return maybe_elect_unclean(c, s)
    if e.kind == EventKind.DESIGNATE:
        return designate(c, s, e.broker).partition
    if e.kind == EventKind.FINISH_RECOVERY:
        return recovered_partition(c, s, e.broker)
    if e.kind == EventKind.REASSIGN:
        return reassign(c, s, e.wanted).partition
    if e.kind == EventKind.CANCEL_REASSIGNMENT:
        return cancel_reassignment(c, s).partition
    if e.kind == EventKind.ASSIGN_DIRECTORIES:
        return directories_assigned(c, s)
    if e.kind == EventKind.DIRECTORY_MOVED:
        return with_new_directory(c, s, e.broker)
    if e.kind == EventKind.DIRECTORY_FAILED:
        return without_directory(c, s, e.broker)
    if e.kind == EventKind.CREATE_PARTITION:
        return created_partition(c, s.registration, e.wanted)
    return s.partition


@op
def registration_after(e: Event, r: Registration, p: Partition) -> Registration:
    """The registration of the event's broker after the event; p is the partition after it."""
    if e.kind == EventKind.FENCE or e.kind == EventKind.GRANT_SHUTDOWN:
        return replace(r, fenced=True)
    if e.kind == EventKind.UNFENCE:
        return replace(r, fenced=False)
    if e.kind == EventKind.REGISTER_CLEAN or e.kind == EventKind.REGISTER_UNCLEAN:
        return new_incarnation(r, e.brings_directory)
    if e.kind == EventKind.START_SHUTDOWN:
        return replace(r, in_controlled_shutdown=True, shutdown_offset=p.partition_epoch)
    if e.kind == EventKind.UNREGISTER:
        return replace(r, registered=False, fenced=True, in_controlled_shutdown=False)
    if e.kind == EventKind.DIRECTORY_FAILED:
        return replace(r, directory=Directory.OFFLINE)
    if e.kind == EventKind.DIRECTORY_MOVED:
        return replace(r, directory=Directory.ONLINE)
    return r


@op
def settings_after(c: Config, s: Controller, e: Event) -> Settings:
    """The settings after an event that changes them."""
    if e.kind == EventKind.MIN_ISR_DELETED:
        return without_topic_min_isr(s.settings)
    if e.kind == EventKind.FEATURE_ON or e.kind == EventKind.FEATURE_OFF:
        return with_feature(c, s.settings, e.kind == EventKind.FEATURE_ON)
    return with_min_isr(s.settings, level_of(e.kind), e.broker, e.value)


@op
def after(c: Config, s: Controller, e: Event) -> Controller:
    """The situation after the event."""
    if e.kind == EventKind.FEATURE_ON or e.kind == EventKind.FEATURE_OFF:
        switched = feature_switched(c, s.partition, e.kind == EventKind.FEATURE_ON)
        return replace(s, settings=settings_after(c, s, e), partition=switched)
    if e.kind == EventKind.MIN_ISR_BROKER:
        return replace(s, settings=settings_after(c, s, e))
    if (
        e.kind == EventKind.MIN_ISR_TOPIC
        or e.kind == EventKind.MIN_ISR_CLUSTER
        or e.kind == EventKind.MIN_ISR_DELETED
    ):
        settings = settings_after(c, s, e)
        cleared = min_isr_changed(c, s.settings, settings, s.partition, level_of(e.kind))
        changed = min_isr_recorded(c, s.partition, cleared)
        index = index_after(c, s.registration, s.partition, changed)
        return replace(s, settings=settings, partition=changed, registration=index)
    p = partition_after(c, s, e)
    r = registration_after(e, s.registration[e.broker], p)
    return replace(s, partition=p, registration=put(s.registration, e.broker, r))
