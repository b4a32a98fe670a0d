"""Settings that operators change at runtime: min.insync.replicas, the ELR feature, log directories.

Sources: ConfigurationControlManager, FeatureControlManager, ReplicationControlManager
(getPartitionElrUpdatesForConfigChanges, handleAssignReplicasToDirs); KIP-966 "min.insync.replicas",
KAFKA-16540, and the Apache documentation page on ELR.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, put
from elrcheck.model.change_record import Election, Target, target
from elrcheck.model.choices import MinIsrChange, Propagation
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.control_plane.partition import change, election_fails
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import Replica, Vec
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import MinIsr, Partition, Registration, Settings

# ---------------------------------------------------------------------------- min.insync.replicas


@op
def min_isr_error(settings: Settings, level: MinIsrLevel, value: MinIsr | None) -> Error:
    """A value below 1 is invalid, as is a broker's own value while ELR is on (KAFKA-16540).

    With ELR on, the cluster's value cannot be deleted; this model never deletes it.
    """
    invalid = value is not None and value < 1
    own = level == MinIsrLevel.BROKER and settings.elr_enabled
    deleted = level == MinIsrLevel.CLUSTER and value is None
    return Error.INVALID_CONFIG if invalid or own or deleted else Error.NONE


@op
def with_min_isr(settings: Settings, level: MinIsrLevel, b: Replica, value: MinIsr | None) -> Settings:
    """The settings after a valid change; b matters only at the level of a broker.

    After a deletion of the topic's value (None) the broker's own applies, or else the cluster's.
    """
    if level == MinIsrLevel.TOPIC:
        return replace(settings, topic_min_isr=value)
    if level == MinIsrLevel.CLUSTER and value is not None:
        return replace(settings, cluster_min_isr=value)
    return replace(settings, broker_min_isr=put(settings.broker_min_isr, b, value))


@op
def without_elr(p: Partition) -> Partition:
    """A record that clears the ELR fields, if any is set; it does not bump the leader epoch."""
    nothing = p.elr == EMPTY and p.last_known_elr == EMPTY and p.last_known_leader is None
    if nothing and not p.last_known_none:
        return p
    return replace(
        p,
        elr=EMPTY,
        last_known_elr=EMPTY,
        last_known_leader=None,
        last_known_none=False,
        partition_epoch=p.partition_epoch + 1,
    )


@op
def min_isr_changed(c: Config, before: Settings, after: Settings, p: Partition, level: MinIsrLevel) -> Partition:
    """The partition after a change of min.insync.replicas (getPartitionElrUpdatesForConfigChanges, C-13).

    KIP-966 clears the ELR when the ISR alone has min ISR members. Since 4.0 Kafka always clears it, except that a
    topic's value must really change. Earlier releases never clear it (F-19).
    """
    if c.min_isr_change == MinIsrChange.NEVER:
        return p
    if c.min_isr_change == MinIsrChange.KIP:
        return without_elr(p) if len(p.isr) >= effective_min_isr(after, p.replicas) else p
    same = level == MinIsrLevel.TOPIC and before.topic_min_isr == after.topic_min_isr
    return p if same or not after.elr_enabled else without_elr(p)


@op
def min_isr_recorded(c: Config, before: Partition, after: Partition) -> Partition:
    """With `min_isr_change_bumps_partition_epoch`, a record that only bumps the partition epoch.

    The controller then rejects an AlterPartition with the old partition epoch (INVALID_UPDATE_VERSION), so a leader
    must read the log up to the new value before its next ISR change succeeds.
    """
    if not c.min_isr_change_bumps_partition_epoch or after != before:
        return after
    return replace(after, partition_epoch=after.partition_epoch + 1)


@op
def index_after(c: Config, registration: Vec[Registration], before: Partition, after: Partition) -> Vec[Registration]:
    """removeTopicElrs clears the ELR and leaves its members in BrokersToElrs."""
    cleared = before.elr - after.elr
    counts = c.elr_index_goes_stale and c.metadata == Propagation.LATEST
    return tuple(
        replace(registration[b], stale_entries=registration[b].stale_entries + 1)
        if counts and b in cleared
        else registration[b]
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- the feature


@op
def with_feature(c: Config, settings: Settings, enabled: bool) -> Settings:
    """eligible.leader.replicas.version becomes 1 or 0; enabling ELR drops the values of brokers."""
    if not enabled:
        return replace(settings, elr_enabled=False)
    return replace(settings, elr_enabled=True, broker_min_isr=tuple(None for b in c.brokers))


@op
def feature_switched(c: Config, p: Partition, enabled: bool) -> Partition:
    """The partition after a change of the feature: ELR starts empty.

    KIP-966 "Compatibility": an older metadata version ignores the ELR fields, and the controller "will populate the
    ELR as empty" after the upgrade. An ELR stored before a downgrade is stale, because the high watermark may have
    advanced with a smaller ISR in the meantime; Kafka retains it (F-56).
    """
    return without_elr(p) if enabled and c.feature_on_clears_elr else p


# ---------------------------------------------------------------------------- directories


@op
def directories_reported(c: Config, controller: Controller) -> Partition:
    """handleAssignReplicasToDirs with the directory already recorded: the builder runs all the same.

    The election is ONLINE, regardless of the topic's unclean.leader.election.enable. Up to 4.2 Kafka builds the change
    as if ELR were off, which wipes the ELR fields (C-43, F-23).
    """
    p = controller.partition
    return p if directories_fail(c, controller) else change(c, p, directories_target(c, controller))


@op
def directories_assigned(c: Config, controller: Controller) -> Partition:
    """handleAssignReplicasToDirs with another directory, which this model does not store."""
    p = controller.partition
    after = directories_reported(c, controller)
    failed = directories_fail(c, controller)
    return p if failed else replace(after, partition_epoch=p.partition_epoch + 1)


@op
def directories_target(c: Config, controller: Controller) -> Target:
    isr = controller.partition.isr
    base = target(controller, isr, Election.ONLINE, active(c, controller.registration), EMPTY)
    return replace(base, elr_enabled=base.elr_enabled and not c.dirs_wipe_elr)


@op
def directories_fail(c: Config, controller: Controller) -> bool:
    return election_fails(c, controller.partition, directories_target(c, controller))
