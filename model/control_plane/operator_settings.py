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
    """A value below 1 is invalid, and so is one of a single broker while ELR is on (KAFKA-16540).

    With ELR on, the cluster's value cannot be deleted; this model never deletes it.
    """
    invalid = value is not None and value < 1
    own = level == MinIsrLevel.BROKER and settings.elr_enabled
    deleted = level == MinIsrLevel.CLUSTER and value is None
    return Error.INVALID_CONFIG if invalid or own or deleted else Error.NONE


@op
def with_min_isr(settings: Settings, level: MinIsrLevel, b: Replica, value: MinIsr | None) -> Settings:
    """The settings after a valid change; b matters only at the level of a broker.

    Once the topic's value is deleted (None), the cluster's applies, or a broker's own.
    """
    if level == MinIsrLevel.TOPIC:
        return replace(settings, topic_min_isr=value)
    if level == MinIsrLevel.CLUSTER and value is not None:
        return replace(settings, cluster_min_isr=value)
    return replace(settings, broker_min_isr=put(settings.broker_min_isr, b, value))


@op
def without_elr(p: Partition) -> Partition:
    """A record that clears the ELR fields, if there is anything to clear; the leader epoch stays."""
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
    """The partition after min.insync.replicas changed (getPartitionElrUpdatesForConfigChanges, C-13).

    KIP-966 clears the ELR when the ISR alone has min ISR members. 4.0 and 4.1 always clear it, but for
    the topic only if its value really changed. Earlier code never does (F-19).
    """
    if c.min_isr_change == MinIsrChange.NEVER:
        return p
    if c.min_isr_change == MinIsrChange.KIP:
        return without_elr(p) if len(p.isr) >= effective_min_isr(after, p.replicas) else p
    same = level == MinIsrLevel.TOPIC and before.topic_min_isr == after.topic_min_isr
    return p if same or not after.elr_enabled else without_elr(p)


@op
def min_isr_recorded(c: Config, before: Partition, after: Partition) -> Partition:
    """With `min_isr_change_bumps_partition_epoch`, a record that changes nothing but the partition epoch.

    An AlterPartition with the old partition epoch is refused then (INVALID_UPDATE_VERSION), so a leader has
    to read the log up to the new value before the controller grants it another ISR.
    """
    if not c.min_isr_change_bumps_partition_epoch or after != before:
        return after
    return replace(after, partition_epoch=after.partition_epoch + 1)


@op
def index_after(c: Config, registration: Vec[Registration], before: Partition, after: Partition) -> Vec[Registration]:
    """removeTopicElrs clears the ELR, and leaves its members in BrokersToElrs."""
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
    """eligible.leader.replicas.version becomes 1 or 0; switching ELR on drops the values of brokers."""
    if not enabled:
        return replace(settings, elr_enabled=False)
    return replace(settings, elr_enabled=True, broker_min_isr=tuple(None for b in c.brokers))


@op
def feature_switched(c: Config, p: Partition, enabled: bool) -> Partition:
    """The partition once the feature is switched: ELR starts empty.

    KIP-966 "Compatibility": with an older metadata version the ELR fields are ignored, and the controller
    "will populate the ELR as empty" after the upgrade. What was stored before a downgrade is out of date,
    because the high watermark may have moved with a smaller ISR meanwhile; the code keeps it (F-56).
    """
    return without_elr(p) if enabled and c.feature_on_clears_elr else p


# ---------------------------------------------------------------------------- directories


@op
def directories_reported(c: Config, controller: Controller) -> Partition:
    """handleAssignReplicasToDirs, where the report says nothing new: the builder runs all the same.

    The election is ONLINE, whatever the topic's unclean.leader.election.enable. Up to 4.2 the change is built
    as if ELR were off, which wipes the ELR fields (C-43, F-23).
    """
    p = controller.partition
    return p if directories_fail(c, controller) else change(c, p, directories_target(c, controller))


@op
def directories_assigned(c: Config, controller: Controller) -> Partition:
    """handleAssignReplicasToDirs, where a replica is in another directory, which this model does not hold."""
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
