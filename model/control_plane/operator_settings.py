"""What operators change at runtime: min.insync.replicas, the ELR feature, log directories.

Sources: ConfigurationControlManager, FeatureControlManager, ReplicationControlManager
(getPartitionElrUpdatesForConfigChanges, handleAssignReplicasToDirs); KIP-966 "min.insync.replicas",
KAFKA-16540, and the Apache documentation page on ELR.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.marks import Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica, Vec
from elrcheck.model.absent import recovery_after
from elrcheck.model.alternatives.reductions import kept_up
from elrcheck.model.config import Config, MinIsrChange
from elrcheck.model.control_plane.controller import active, election_type
from elrcheck.model.control_plane.elections import AdminError
from elrcheck.model.control_plane.partition import change, target
from elrcheck.model.state import (
    MinIsr,
    Partition,
    Registration,
    Settings,
    State,
    appended,
    effective_min_isr,
    logged,
    snapshot,
)


class MinIsrLevel(enum.Enum):
    """Where a value of min.insync.replicas is configured."""

    TOPIC = "topic"
    CLUSTER = "cluster"
    BROKER = "broker"


# ---------------------------------------------------------------------------- min.insync.replicas


@op
def min_isr_error(g: Settings, level: MinIsrLevel, value: MinIsr) -> AdminError:
    """Values below 1 are invalid, and with ELR single brokers have none of their own (KAFKA-16540)."""
    if value < 1 or (level == MinIsrLevel.BROKER and g.elr_enabled):
        return AdminError.INVALID_CONFIG
    return AdminError.NONE


@op
def with_min_isr(g: Settings, level: MinIsrLevel, b: Replica, value: MinIsr) -> Settings:
    """The settings after a granted change; b matters for the level of a broker only."""
    if level == MinIsrLevel.TOPIC:
        return replace(g, topic_min_isr=value)
    if level == MinIsrLevel.CLUSTER:
        return replace(g, cluster_min_isr=value)
    return replace(g, broker_min_isr=put(g.broker_min_isr, b, value))


@op
def without_elr(p: Partition) -> Partition:
    """A record that clears the ELR fields, if there is anything to clear; the leader epoch stays."""
    if p.elr == EMPTY and p.last_known_elr == EMPTY and p.last_known_leader is None:
        return p
    return replace(
        p,
        elr=EMPTY,
        last_known_elr=EMPTY,
        last_known_leader=None,
        partition_epoch=p.partition_epoch + 1,
    )


@op
def min_isr_changed(
    c: Config, before: Settings, after: Settings, p: Partition, level: MinIsrLevel
) -> Partition:
    """The partition after the settings changed (C-13).

    KIP: the ELR goes as soon as the ISR alone is enough. 4.0 and 4.1: always, but for the topic only
    if its value really changed. Earlier code: never (F-19).
    """
    if c.min_isr_change == MinIsrChange.NEVER:
        return p
    if c.min_isr_change == MinIsrChange.KIP:
        return without_elr(p) if len(p.isr) >= effective_min_isr(after, p.replicas) else p
    same = level == MinIsrLevel.TOPIC and before.topic_min_isr == after.topic_min_isr
    return p if same or not after.elr_enabled else without_elr(p)


@action(
    fairness=Unfair("a request of an operator"),
    event=("MIN_ISR_TOPIC", "MIN_ISR_CLUSTER"),
    what_if="set_min_isr",
)
def ChangeMinIsr(c: Config, s: State, level: MinIsrLevel, value: MinIsr) -> State:
    """An operator writes min.insync.replicas for the topic or the cluster.

    The same value may be written for the cluster again: 4.0 and 4.1 then clear the ELR all the same.
    """
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(level != MinIsrLevel.BROKER, "not for a single broker")
    require(level == MinIsrLevel.CLUSTER or s.settings.topic_min_isr != value, "the value is new")
    require(min_isr_error(s.settings, level, value) == AdminError.NONE, "the value is valid")
    settings = with_min_isr(s.settings, level, 0, value)
    after = min_isr_changed(c, s.settings, settings, s.partition, level)
    return replace(
        s,
        settings=settings,
        partition=after,
        metadata=appended(c, s.metadata, s.partition, after, snapshot(c, settings, after)),
        broker=kept_up(c, s, after),
        spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="MIN_ISR_BROKER", what_if="set_min_isr")
def ChangeBrokerMinIsr(c: Config, s: State, b: Replica, value: MinIsr) -> State:
    """An operator writes min.insync.replicas for one broker, possible only without ELR."""
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(min_isr_error(s.settings, MinIsrLevel.BROKER, value) == AdminError.NONE, "the value is valid")
    require(s.settings.broker_min_isr[b] != value, "the value is new")
    return replace(
        s,
        settings=with_min_isr(s.settings, MinIsrLevel.BROKER, b, value),
        spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1),
    )


# ---------------------------------------------------------------------------- the feature


@op
def with_feature(c: Config, g: Settings, enabled: bool) -> Settings:
    """eligible.leader.replicas.version is set to 1 or 0; with ELR the values of brokers are dropped."""
    if not enabled:
        return replace(g, elr_enabled=False)
    return replace(g, elr_enabled=True, broker_min_isr=tuple(None for b in c.brokers))


@action(
    fairness=Unfair("a request of an operator"),
    event=("FEATURE_ON", "FEATURE_OFF"),
    because="no what-if operation: a question sets elr_enabled itself, and the partition stays as it is",
)
def ChangeFeature(c: Config, s: State, enabled: bool) -> State:
    """An operator switches ELR on or off. Partitions keep their records until their next change."""
    require(c.feature_changes > 0, "the scope has feature changes")
    require(s.settings.elr_enabled != enabled, "the feature changes")
    return replace(
        s,
        settings=with_feature(c, s.settings, enabled),
        spent=replace(s.spent, feature_changes=s.spent.feature_changes + 1),
    )


# ---------------------------------------------------------------------------- directories


@op
def directories_assigned(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration]
) -> Partition:
    """AssignReplicasToDirs: only the directories change, which this model does not hold.

    4.0 and 4.1 build the change as if ELR were off, which wipes the ELR fields (C-43, F-23).
    """
    wish = target(g, p, p.isr, election_type(c), active(c, registration), EMPTY)
    after = change(c, p, replace(wish, elr_enabled=g.elr_enabled and not c.dirs_wipe_elr))
    return replace(after, partition_epoch=p.partition_epoch + 1)


@action(
    fairness=Unfair("a report of a broker, once"),
    event="ASSIGN_DIRECTORIES",
    because="what-if has no operation for it so far",
)
def AssignDirectories(c: Config, s: State) -> State:
    """A broker reports in which log directory its replica is."""
    require(c.directory_changes > 0, "the scope has changes of directories")
    after = directories_assigned(c, s.settings, s.partition, s.registration)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
        spent=replace(s.spent, directory_changes=s.spent.directory_changes + 1),
    )
