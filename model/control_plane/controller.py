"""What the controller decides about one partition: fencing, unfencing, registration, AlterPartition.

Each rule says what the partition becomes; the actions of `broker_events.py` apply it to the whole state.
Sources: ReplicationControlManager, ClusterControlManager, BrokerHeartbeatManager; KIP-966 "Broker unclean
shutdown", KIP-841 (fenced replicas), KIP-903 (broker epochs in AlterPartition).
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, record
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.alternatives.shadow_isr import shadow_registration
from elrcheck.model.change_record import election_type, target
from elrcheck.model.config import CleanCheck, Config, LostDirectory, Reregistration
from elrcheck.model.control_plane.partition import change
from elrcheck.model.replication_control import Controller, active, is_active
from elrcheck.model.state import (
    BrokerEpoch,
    Directory,
    Epoch,
    Error,
    Partition,
    PartitionEpoch,
    Recovery,
    Registration,
    effective_min_isr,
)


@record
class AlterRequest:
    """AlterPartition for one partition; an epoch of 0 in `member_epochs` means "not known"."""

    sender: Replica
    sender_epoch: BrokerEpoch
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    member_epochs: Vec[BrokerEpoch]
    recovery: Recovery


@record
class Decision:
    """The controller's answer to AlterPartition and the partition after it."""

    error: Error
    partition: Partition


# ---------------------------------------------------------------------------- broker events


@op
def fenced_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerFenced: b leaves the ISR; the other brokers are seen as they are before this event."""
    p = controller.partition
    if b not in p.isr:
        return p
    acceptable = active(c, controller.registration) - {b}
    stays = c.keep_min_isr and len(p.isr) <= effective_min_isr(controller.settings, p.replicas)
    isr = p.isr if stays else p.isr - {b}
    return change(c, p, target(controller, isr, election_type(c), acceptable, EMPTY))


@op
def unfenced_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerUnfenced: the builder runs on every partition without a leader.

    It does so whether or not b holds a replica (brokersToIsrs.partitionsWithNoLeader).
    """
    p = controller.partition
    if p.leader is not None:
        return p
    acceptable = active(c, controller.registration) | {b}
    return change(c, p, target(controller, p.isr, election_type(c), acceptable, EMPTY))


@op
def unclean_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleUncleanBrokerShutdown: b leaves the ISR and the ELR and cannot be elected."""
    p = controller.partition
    if b not in p.isr and b not in p.elr:
        return p
    acceptable = active(c, controller.registration) - {b}
    return change(c, p, target(controller, p.isr - {b}, election_type(c), acceptable, frozenset({b})))


@op
def shutdown_was_clean(c: Config, presented: BrokerEpoch, registered: BrokerEpoch) -> bool:
    """KIP-966: the epoch in the clean-shutdown file must be the one of the stored registration."""
    if c.clean_check == CleanCheck.EPOCH:
        return presented == registered
    return c.clean_check == CleanCheck.ALWAYS_CLEAN


@op
def vouches(c: Config, old: Registration, clean: bool, brings_directory: bool) -> bool:
    """A clean shutdown proves the replica complete: a registration without its directory should not (F-52).

    ClusterControlManager.registerBroker compares epochs only, and never the directories.
    """
    known = old.directory != Directory.UNASSIGNED
    lost = c.lost_directory == LostDirectory.REGISTRATION and known and not brings_directory
    return clean and not lost


@op
def registered_partition(
    c: Config, controller: Controller, b: Replica, stopped_cleanly: bool, brings_directory: bool
) -> Partition:
    """ClusterControlManager.registerBroker: what a new incarnation of b does to the partition.

    An id that is not registered has no stored broker epoch (-2), which no clean-shutdown file names: with
    ELR on its registration counts as one after an unclean shutdown.
    """
    known = controller.registration[b].registered
    clean = vouches(c, controller.registration[b], stopped_cleanly, brings_directory)
    if not known and (c.shadow_isr or not c.unknown_id_is_unclean):
        return controller.partition
    if c.shadow_isr:
        before = controller.partition
        return before if clean else change(c, before, shadow_registration(c, controller, b))
    if not controller.settings.elr_enabled:
        ignored = c.rereg_without_elr == Reregistration.IGNORE
        return controller.partition if ignored else fenced_partition(c, controller, b)
    if clean and known:
        return fenced_partition(c, controller, b)
    return unclean_partition(c, controller, b)


@op
def unregistered_partition(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleBrokerUnregistered: b leaves the ISR as if it were fenced, and the ELR.

    The code passes b as the broker to remove, which takes it out of the ISR but not out of the ELR
    (F-21). It leaves the ELR when its id registers again, if that counts as unclean.
    """
    p = controller.partition
    if b not in p.isr and b not in p.elr:
        return p
    acceptable = active(c, controller.registration) - {b}
    gone = frozenset({b}) if c.unregister_prunes_elr else EMPTY
    return change(c, p, target(controller, p.isr - {b}, election_type(c), acceptable, gone))


@op
def new_incarnation(old: Registration, brings_directory: bool) -> Registration:
    """A registration always starts fenced, with a broker epoch never used before.

    It lists the broker's log directories: the recorded one is online if it is among them (KIP-858).
    """
    found = Directory.ONLINE if brings_directory else Directory.OFFLINE
    return Registration(
        registered=True,
        fenced=True,
        in_controlled_shutdown=False,
        shutdown_offset=0,
        epoch=old.epoch + 1,
        directory=old.directory if old.directory == Directory.UNASSIGNED else found,
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def member_is_eligible(c: Config, controller: Controller, member: Replica, carried: BrokerEpoch) -> bool:
    """KIP-841 and KIP-903: an ISR member is active, and is the incarnation the leader heard from.

    carried: the broker epoch that the request names for the member, 0 if it names none.
    """
    r = controller.registration[member]
    stays = c.keep_min_isr and member in controller.partition.isr
    live = is_active(r) or stays or (r.registered and not c.alter_checks_fenced)
    return live and (carried == 0 or carried == r.epoch or not c.alter_checks_epochs)


@op
def validate_alter(c: Config, controller: Controller, r: AlterRequest) -> Error:
    """ReplicationControlManager.validateAlterPartitionData, in its order."""
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
def alter_partition(c: Config, controller: Controller, r: AlterRequest) -> Decision:
    """ReplicationControlManager.alterPartition for one partition."""
    p = controller.partition
    error = validate_alter(c, controller, r)
    if error != Error.NONE:
        return Decision(error=error, partition=p)
    wanted = target(controller, r.isr, election_type(c), active(c, controller.registration), EMPTY)
    after = change(c, p, replace(wanted, recovery=r.recovery))
    return Decision(
        error=Error.NONE if after.leader == r.sender else Error.NEW_LEADER_ELECTED,
        partition=after,
    )
