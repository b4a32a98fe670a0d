"""The controller's rules for one partition: fencing, unfencing, registration, AlterPartition.

Each rule returns the partition after the event; the actions of `broker_events.py` apply it to the whole state.
Sources: ReplicationControlManager, ClusterControlManager, BrokerHeartbeatManager; KIP-966 "Broker unclean
shutdown", KIP-841 (fenced replicas), KIP-903 (broker epochs in AlterPartition).
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.alternatives.shadow_isr import shadow_registration
from elrcheck.model.change_record import Target, election_type, target
from elrcheck.model.choices import CleanCheck, LostDirectory, Reregistration
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent, Decision
from elrcheck.model.control_plane.partition import attempted_change, change, election_fails
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import Controller, active, is_active
from elrcheck.model.state import BrokerEpoch, Directory, Partition, Recovery, Registration

# ---------------------------------------------------------------------------- broker events


# A `.._target` is the input of an event to the builder, a `.._partition` the partition after it. `.._fails` is true if
# the election throws: the controller faults, and nothing changes.


@op
def fence_target(c: Config, controller: Controller, b: Replica) -> Target:
    """b leaves the ISR; the event sees the other brokers as they were before it."""
    p = controller.partition
    acceptable = active(c, controller.registration) - {b}
    stays = c.keep_min_isr and len(p.isr) <= effective_min_isr(controller.settings, p.replicas)
    isr = p.isr if stays else p.isr - {b}
    return target(controller, isr, election_type(c, controller.settings), acceptable, EMPTY)


@op
def fence_fails(c: Config, controller: Controller, b: Replica) -> bool:
    p = controller.partition
    return b in p.isr and election_fails(c, p, fence_target(c, controller, b))


@op
def fenced_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerFenced: b leaves the ISR."""
    p = controller.partition
    return attempted_change(c, p, fence_target(c, controller, b)) if b in p.isr else p


@op
def unfence_target(c: Config, controller: Controller, b: Replica) -> Target:
    """An election with b among the active brokers."""
    acceptable = active(c, controller.registration) | {b}
    return target(controller, controller.partition.isr, election_type(c, controller.settings), acceptable, EMPTY)


@op
def unfence_fails(c: Config, controller: Controller, b: Replica) -> bool:
    p = controller.partition
    return p.leader is None and election_fails(c, p, unfence_target(c, controller, b))


@op
def unfenced_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerUnfenced: the builder runs on every partition without a leader.

    It does so even if b hosts no replica (brokersToIsrs.partitionsWithNoLeader).
    """
    p = controller.partition
    return attempted_change(c, p, unfence_target(c, controller, b)) if p.leader is None else p


@op
def gone_target(c: Config, controller: Controller, b: Replica, unclean: RSet) -> Target:
    """b leaves the ISR, and the ELR if it is in `unclean`, and cannot be elected."""
    acceptable = active(c, controller.registration) - {b}
    isr = controller.partition.isr - {b}
    return target(controller, isr, election_type(c, controller.settings), acceptable, unclean)


@op
def is_indexed(c: Config, controller: Controller, b: Replica) -> bool:
    """The controller's indexes list b as a member of the ISR or the ELR (BrokersToIsrs, BrokersToElrs)."""
    p = controller.partition
    stale = c.elr_index_goes_stale and controller.registration[b].stale_entries > 0
    return b in p.isr or b in p.elr or stale


@op
def left_indexes(c: Config, controller: Controller, b: Replica, target_without_b: Target) -> Partition:
    """generateLeaderAndIsrUpdates for the partitions of b in both indexes: one record for each entry.

    The builder makes all of them from the partition before the event, so they are equal, and each bumps the epochs.
    """
    p = controller.partition
    after = attempted_change(c, p, target_without_b) if is_indexed(c, controller, b) else p
    if not c.elr_index_goes_stale or after == p:
        return after
    once = 1 if b in p.isr or b in p.elr else 0
    records = once + controller.registration[b].stale_entries
    named = after.leader_epoch != p.leader_epoch
    return replace(
        after,
        leader_epoch=p.leader_epoch + records if named else p.leader_epoch,
        partition_epoch=p.partition_epoch + records,
    )


@op
def unclean_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleUncleanBrokerShutdown: b leaves the ISR and the ELR and cannot be elected."""
    return left_indexes(c, controller, b, gone_target(c, controller, b, frozenset({b})))


@op
def shutdown_was_clean(c: Config, presented: BrokerEpoch, registered: BrokerEpoch) -> bool:
    """KIP-966: the epoch in the clean-shutdown file must be that of the stored registration."""
    if c.clean_check == CleanCheck.EPOCH:
        return presented == registered
    return c.clean_check == CleanCheck.ALWAYS_CLEAN


@op
def vouches(c: Config, old: Registration, stopped_cleanly: bool, brings_directory: bool) -> bool:
    """A clean shutdown proves that the replica is complete, but not if the broker has lost its directory (F-52).

    ClusterControlManager.registerBroker compares the epochs and does not compare the directories.
    """
    directory_assigned = old.directory != Directory.UNASSIGNED
    lost = c.lost_directory == LostDirectory.REGISTRATION and directory_assigned and not brings_directory
    return stopped_cleanly and not lost


@op
def registers_uncleanly(c: Config, controller: Controller, b: Replica, clean: bool) -> bool:
    """With ELR on, the registration of b counts as one after an unclean shutdown.

    The stored broker epoch of an unregistered id is -2, which no clean-shutdown file contains.
    """
    was_registered = controller.registration[b].registered
    return controller.settings.elr_enabled and (not clean or not was_registered)


@op
def registered_partition(c: Config, controller: Controller, b: Replica, clean: bool) -> Partition:
    """ClusterControlManager.registerBroker: the partition after a new incarnation of b has registered."""
    was_registered = controller.registration[b].registered
    if not was_registered and (c.shadow_isr or not c.unknown_id_is_unclean):
        return controller.partition
    if c.shadow_isr:
        before = controller.partition
        return before if clean else change(c, before, shadow_registration(c, controller, b))
    if not controller.settings.elr_enabled:
        ignored = c.rereg_without_elr == Reregistration.IGNORE
        return controller.partition if ignored else fenced_partition(c, controller, b)
    if registers_uncleanly(c, controller, b, clean):
        return unclean_partition(c, controller, b)
    return fenced_partition(c, controller, b)


@op
def registration_fails(c: Config, controller: Controller, b: Replica, clean: bool) -> bool:
    if registers_uncleanly(c, controller, b, clean):
        target_without_b = gone_target(c, controller, b, frozenset({b}))
        return is_indexed(c, controller, b) and election_fails(c, controller.partition, target_without_b)
    return fence_fails(c, controller, b)


@op
def unregistration_target(c: Config, controller: Controller, b: Replica) -> Target:
    """Kafka passes b as the broker to remove, which removes it from the ISR but not from the ELR (F-21)."""
    return gone_target(c, controller, b, frozenset({b}) if c.unregister_prunes_elr else EMPTY)


@op
def unregistration_fails(c: Config, controller: Controller, b: Replica) -> bool:
    target_without_b = unregistration_target(c, controller, b)
    return is_indexed(c, controller, b) and election_fails(c, controller.partition, target_without_b)


@op
def unregistered_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerUnregistered: b leaves the ISR as if it were fenced, and the ELR.

    In Kafka it leaves the ELR only when its id registers again, if that registration counts as unclean.
    """
    return left_indexes(c, controller, b, unregistration_target(c, controller, b))


@op
def new_incarnation(old: Registration, brings_directory: bool) -> Registration:
    """A registration always starts fenced, with a new broker epoch.

    It lists the broker's log directories: the recorded directory is online if it is among them (KIP-858).
    """
    recorded_directory = Directory.ONLINE if brings_directory else Directory.OFFLINE
    return Registration(
        registered=True,
        fenced=True,
        in_controlled_shutdown=False,
        shutdown_offset=0,
        epoch=old.epoch + 1,
        stale_entries=old.stale_entries,
        directory=old.directory if old.directory == Directory.UNASSIGNED else recorded_directory,
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def member_is_eligible(c: Config, controller: Controller, member: Replica, carried: BrokerEpoch) -> bool:
    """KIP-841 and KIP-903: an ISR member is active, in the incarnation whose fetch the leader received.

    carried: the broker epoch in the request for the member, 0 for none.
    """
    r = controller.registration[member]
    stays = c.keep_min_isr and member in controller.partition.isr
    live = is_active(r) or stays or (r.registered and not c.alter_checks_fenced)
    return live and (carried == 0 or carried == r.epoch or not c.alter_checks_epochs)


@op
def validate_alter(c: Config, controller: Controller, r: AlterPartitionEvent) -> Error:
    """ClusterControlManager.checkBrokerEpoch, then ReplicationControlManager.validateAlterPartitionData, in order."""
    p = controller.partition
    sender = controller.registration[r.sender]
    if not sender.registered or r.sender_epoch != sender.epoch:
        return Error.STALE_BROKER_EPOCH
    if r.leader_epoch > p.leader_epoch or r.partition_epoch > p.partition_epoch:
        return Error.NOT_CONTROLLER
    if r.leader_epoch < p.leader_epoch:
        return Error.FENCED_LEADER_EPOCH
    if p.leader != r.sender:
        return Error.INVALID_REQUEST
    if r.partition_epoch < p.partition_epoch:
        return Error.INVALID_UPDATE_VERSION
    if not r.isr <= frozenset(p.replicas) or r.sender not in r.isr:
        return Error.INVALID_REQUEST
    if r.recovery == Recovery.RECOVERING and (len(r.isr) > 1 or p.recovery == Recovery.RECOVERED):
        return Error.INVALID_REQUEST
    if not all(member_is_eligible(c, controller, m, r.member_epochs[m]) for m in r.isr):
        return Error.INELIGIBLE_REPLICA
    return Error.NONE


@op
def alter_partition(c: Config, controller: Controller, r: AlterPartitionEvent) -> Decision:
    """ReplicationControlManager.alterPartition for one partition."""
    p = controller.partition
    error = validate_alter(c, controller, r)
    if error != Error.NONE:
        return Decision(error=error, partition=p)
    base = target(controller, r.isr, election_type(c, controller.settings), active(c, controller.registration), EMPTY)
    after = change(c, p, replace(base, recovery=r.recovery))
    return Decision(error=Error.NONE if after.leader == r.sender else Error.NEW_LEADER_ELECTED, partition=after)
