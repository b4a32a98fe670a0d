"""What the controller decides about one event: from what it knows to what it answers and knows afterwards.

Each function calls the one rule of the model for its event and puts the result beside the registrations and
the settings. `what-if` reads its questions into these calls, and `conform` those that it puts to Kafka's own
classes, so that a question and a comparison mean the same event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from elrcheck.lang.runtime import EMPTY, put
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
    Decision,
    ElectionType,
    MinIsrLevel,
)
from elrcheck.model.control_plane.creation import created_partition, initial_isr
from elrcheck.model.control_plane.directories import with_new_directory, without_directory
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
    without_topic_min_isr,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, reassign
from elrcheck.model.control_plane.recovery import longest_log_error
from elrcheck.model.replication_control import Controller, registered
from elrcheck.model.state import Directory, Error, Partition, Registration, Settings

NONE = "NONE"
FAULT = Error.UNKNOWN_SERVER_ERROR.name
"""The event fails with an exception that no client is meant to see, and the controller knows what it knew."""


RECOVERIES = {
    ElectionType.LONGEST_LOG_AGGRESSIVE: RecoveryStrategy.AGGRESSIVE,
    ElectionType.LONGEST_LOG_BALANCED: RecoveryStrategy.BALANCED,
}


@dataclass(frozen=True, slots=True)
class Decided:
    """Kafka's name of the error that the caller is told, and what the controller knows then."""

    error: str
    controller: Controller


def _quiet(s: Controller, partition: Partition) -> Decided:
    return Decided(NONE, replace(s, partition=partition))


def _admin(s: Controller, decision: Decision) -> Decided:
    return Decided(decision.error.name, replace(s, partition=decision.partition))


def _broker(s: Controller, partition: Partition, b: int, registration: Registration) -> Decided:
    after = put(s.registration, b, registration)
    return Decided(NONE, replace(s, partition=partition, registration=after))


# ---------------------------------------------------------------------------- broker events


def fence(c: Config, s: Controller, b: int) -> Decided:
    """The session of b expires; a fenced broker has none."""
    r = s.registration[b]
    if r.fenced:
        return Decided(NONE, s)
    if fence_fails(c, s, b):
        return Decided(FAULT, s)
    return _broker(s, fenced_partition(c, s, b), b, replace(r, fenced=True))


def unfence(c: Config, s: Controller, b: int) -> Decided:
    """b has caught up with the metadata."""
    r = s.registration[b]
    if not r.fenced:
        return Decided(NONE, s)
    if unfence_fails(c, s, b):
        return Decided(FAULT, s)
    return _broker(s, unfenced_partition(c, s, b), b, replace(r, fenced=False))


def register(c: Config, s: Controller, b: int, presented: int, brings_directory: bool = True) -> Decided:
    """A new incarnation, whose clean-shutdown file names the broker epoch `presented`, 0 without one.

    The session of an unfenced one counts as expired, so it is never a duplicate. brings_directory: its log
    directories include the one recorded for its replica.
    """
    old = s.registration[b]
    clean = vouches(c, old, shutdown_was_clean(c, presented, old.epoch), brings_directory)
    if registration_fails(c, s, b, clean):
        return Decided(FAULT, s)
    return _broker(s, registered_partition(c, s, b, clean), b, new_incarnation(old, brings_directory))


def controlled_shutdown(c: Config, s: Controller, b: int) -> Decided:
    """The broker asks to stop while it still leads something, here or elsewhere: it stays unfenced."""
    r = s.registration[b]
    if r.fenced or r.in_controlled_shutdown:
        return Decided(NONE, s)
    if fence_fails(c, s, b):
        return Decided(FAULT, s)
    return _broker(s, fenced_partition(c, s, b), b, replace(r, in_controlled_shutdown=True))


def unregister(c: Config, s: Controller, b: int) -> Decided:
    """An operator unregisters b, whether it is down or not."""
    gone = replace(s.registration[b], registered=False, fenced=True, in_controlled_shutdown=False)
    if unregistration_fails(c, s, b):
        return Decided(FAULT, s)
    return _broker(s, unregistered_partition(c, s, b), b, gone)


def directory_failed(c: Config, s: Controller, b: int) -> Decided:
    """A heartbeat of b names the directory recorded for its replica as offline."""
    r = s.registration[b]
    if r.directory != Directory.ONLINE:
        return Decided(NONE, s)
    return _broker(s, without_directory(c, s, b), b, replace(r, directory=Directory.OFFLINE))


def report_directory(c: Config, s: Controller, b: int) -> Decided:
    """b reports that its replica is in a directory that is online (AssignReplicasToDirs)."""
    if b not in s.partition.replicas:
        return Decided("NOT_LEADER_OR_FOLLOWER", s)
    online = replace(s.registration[b], directory=Directory.ONLINE)
    return _broker(s, with_new_directory(c, s, b), b, online)


def alter(c: Config, s: Controller, request: AlterPartitionEvent) -> Decided:
    """An AlterPartition of a broker that is, or was, registered."""
    decision = alter_partition(c, s, request)
    return Decided(decision.error.name, replace(s, partition=decision.partition))


# ---------------------------------------------------------------------------- timers and operators


def balance(c: Config, s: Controller) -> Decided:
    """The timer that balances leaders; there is no caller and so no error."""
    if balance_fails(c, s):
        return Decided(FAULT, s)
    return _quiet(s, balance_preferred(c, s))


def elect_periodically(c: Config, s: Controller) -> Decided:
    """The timer that elects uncleanly where the topic allows it."""
    if periodic_election_fails(c, s):
        return Decided(FAULT, s)
    return _quiet(s, maybe_elect_unclean(c, s))


def elect_leaders(c: Config, s: Controller, kind: ElectionType, desired: int | None = None) -> Decided:
    """One partition of an ElectLeaders request. A longest-log type that is granted elects nobody yet."""
    if kind == ElectionType.DESIGNATION:
        return _admin(s, designate(c, s, desired))
    if kind in RECOVERIES:
        return Decided(longest_log_error(c, s, RECOVERIES[kind]).name, s)
    rule: Callable[[Config, Controller], Decision]
    rule = elect_preferred if kind == ElectionType.PREFERRED else elect_unclean
    return _admin(s, rule(c, s))


def move(c: Config, s: Controller, wanted: tuple[int, ...] | None) -> Decided:
    """AlterPartitionReassignments for one partition; None cancels."""
    return _admin(s, cancel_reassignment(c, s) if wanted is None else reassign(c, s, wanted))


def write_min_isr(c: Config, s: Controller, level: MinIsrLevel, value: int, b: int = 0) -> Decided:
    """min.insync.replicas is written at one level; b matters only at that of a broker."""
    error = min_isr_error(s.settings, level, value)
    if error != Error.NONE:
        return Decided(error.name, s)
    return _with_min_isr(c, s, with_min_isr(s.settings, level, b, value), level)


def delete_topic_min_isr(c: Config, s: Controller) -> Decided:
    """The topic's min.insync.replicas is deleted, if it has one."""
    return _with_min_isr(c, s, without_topic_min_isr(s.settings), MinIsrLevel.TOPIC)


def _with_min_isr(c: Config, s: Controller, settings: Settings, level: MinIsrLevel) -> Decided:
    after = s.partition
    if level != MinIsrLevel.BROKER:
        changed = min_isr_changed(c, s.settings, settings, s.partition, level)
        after = min_isr_recorded(c, s.partition, changed)
    index = index_after(c, s.registration, s.partition, after)
    return Decided(NONE, replace(s, settings=settings, partition=after, registration=index))


def switch_feature(c: Config, s: Controller, enabled: bool) -> Decided:
    """eligible.leader.replicas.version becomes 1 or 0."""
    settings, after = with_feature(c, s.settings, enabled), feature_switched(c, s.partition, enabled)
    return Decided(NONE, replace(s, settings=settings, partition=after))


def assign_directories(c: Config, s: Controller, moved: bool = True) -> Decided:
    """A broker reports the log directory of its replica; moved: the controller had another one for it."""
    if directories_fail(c, s):
        return Decided(FAULT, s)
    return _quiet(s, directories_assigned(c, s) if moved else directories_reported(c, s))


def create(c: Config, registration: tuple[Registration, ...], replicas: tuple[int, ...],
           ) -> tuple[str, Partition | None]:  # fmt: skip
    """A topic of one partition with these replicas: Kafka's name of the error, and the partition.

    Every broker of a manual assignment must be registered (createTopics).
    """
    known = frozenset(replicas) <= registered(c, registration)
    if not known or initial_isr(c, registration, replicas) == EMPTY:
        return Error.INVALID_REPLICA_ASSIGNMENT.name, None
    return NONE, created_partition(c, registration, replicas)
