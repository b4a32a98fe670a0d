"""What the controller decides about one partition: fencing, unfencing, registration, AlterPartition.

Functions of the partition and the broker registrations, without the rest of the state; the actions in
`broker_events.py` apply them. Sources: ReplicationControlManager, ClusterControlManager,
BrokerHeartbeatManager (Kafka controller); KIP-966, KIP-841, KIP-903.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, record
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.config import CleanCheck, Config, Reregistration
from elrcheck.model.control_plane.partition import Election, change, target
from elrcheck.model.state import (
    BrokerEpoch,
    Epoch,
    Error,
    Partition,
    PartitionEpoch,
    Recovery,
    Registration,
    Settings,
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


# ---------------------------------------------------------------------------- rules


@op
def is_active(r: Registration) -> bool:
    return r.registered and not r.fenced and not r.in_controlled_shutdown


@op
def active(c: Config, registration: Vec[Registration]) -> RSet:
    """Brokers that may lead: registered, neither fenced nor in controlled shutdown."""
    return frozenset(b for b in c.brokers if is_active(registration[b]))


@op
def election_type(c: Config) -> Election:
    """The election that broker events use: unclean only if the topic allows it."""
    return Election.UNCLEAN if c.unclean_leader_election_enable else Election.ONLINE


@op
def fenced_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica
) -> Partition:
    """handleBrokerFenced: b leaves the ISR; the other brokers are seen as they are before this event."""
    if b not in p.isr:
        return p
    acceptable = active(c, registration) - {b}
    stays = c.keep_min_isr and len(p.isr) <= effective_min_isr(g, p.replicas)
    isr = p.isr if stays else p.isr - {b}
    return change(c, p, target(g, p, isr, election_type(c), acceptable, EMPTY))


@op
def unfenced_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica
) -> Partition:
    """handleBrokerUnfenced: only a partition without a leader is looked at."""
    if p.leader is not None or b not in p.replicas:
        return p
    acceptable = active(c, registration) | {b}
    return change(c, p, target(g, p, p.isr, election_type(c), acceptable, EMPTY))


@op
def unclean_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica
) -> Partition:
    """handleUncleanBrokerShutdown: b leaves the ISR and the ELR and cannot be elected."""
    if b not in p.isr and b not in p.elr:
        return p
    acceptable = active(c, registration) - {b}
    return change(c, p, target(g, p, p.isr - {b}, election_type(c), acceptable, frozenset({b})))


@op
def shutdown_was_clean(c: Config, presented: BrokerEpoch, registered: BrokerEpoch) -> bool:
    """KIP-966: the epoch in the clean-shutdown file must be the one of the stored registration."""
    if c.clean_check == CleanCheck.EPOCH:
        return presented == registered
    return c.clean_check == CleanCheck.ALWAYS_CLEAN


@op
def without_shadow(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica
) -> Partition:
    """With a shadow ISR: b may have lost data. It leaves the shadow; as the last in the ISR it will lead,

    but has to recover first (E-10).
    """
    wanted = target(g, p, p.isr, election_type(c), active(c, registration) - {b}, frozenset({b}))
    last = b in p.isr and p.leader is None
    return change(c, p, replace(wanted, recovery=Recovery.RECOVERING) if last else wanted)


@op
def registered_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica, clean: bool
) -> Partition:
    """ClusterControlManager.registerBroker: what a new incarnation of b does to the partition."""
    if not registration[b].registered:
        return p
    if c.shadow_isr:
        return p if clean else without_shadow(c, g, p, registration, b)
    if not g.elr_enabled:
        if c.rereg_without_elr == Reregistration.IGNORE:
            return p
        return fenced_partition(c, g, p, registration, b)
    if clean:
        return fenced_partition(c, g, p, registration, b)
    return unclean_partition(c, g, p, registration, b)


@op
def unregistered_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], b: Replica
) -> Partition:
    """handleBrokerUnregistered: partitions with b in the ISR, then those with b in the ELR, as if fenced.

    The code passes b as the broker to remove, which takes it out of the ISR but not out of the ELR
    (F-21); nobody will check how it stopped when the id comes back, so it has to leave both.
    """
    if b not in p.isr and b not in p.elr:
        return p
    acceptable = active(c, registration) - {b}
    gone = frozenset({b}) if c.unregister_prunes_elr else EMPTY
    return change(c, p, target(g, p, p.isr - {b}, election_type(c), acceptable, gone))


@op
def new_incarnation(old: Registration) -> Registration:
    """A registration always starts fenced, with a broker epoch never used before."""
    return Registration(
        registered=True, fenced=True, in_controlled_shutdown=False, shutdown_offset=0, epoch=old.epoch + 1
    )


@op
def member_is_eligible(
    c: Config, p: Partition, registration: Vec[Registration], member: Replica, carried: BrokerEpoch
) -> bool:
    """KIP-841 and KIP-903: an ISR member is live, and is the incarnation the leader heard from."""
    r = registration[member]
    stays = c.keep_min_isr and member in p.isr
    live = is_active(r) or stays or (r.registered and not c.alter_checks_fenced)
    return live and (carried == 0 or carried == r.epoch or not c.alter_checks_epochs)


@op
def validate_alter(c: Config, p: Partition, registration: Vec[Registration], r: AlterRequest) -> Error:
    """ReplicationControlManager.validateAlterPartitionData, in its order."""
    if not registration[r.sender].registered or r.sender_epoch != registration[r.sender].epoch:
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
    if not all(member_is_eligible(c, p, registration, m, r.member_epochs[m]) for m in r.isr):
        return Error.INELIGIBLE_REPLICA
    return Error.NONE


@op
def alter_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], r: AlterRequest
) -> Decision:
    """ReplicationControlManager.alterPartition for one partition."""
    error = validate_alter(c, p, registration, r)
    if error != Error.NONE:
        return Decision(error=error, partition=p)
    wanted = target(g, p, r.isr, election_type(c), active(c, registration), EMPTY)
    after = change(c, p, replace(wanted, recovery=r.recovery))
    return Decision(
        error=Error.NONE if after.leader == r.sender else Error.NEW_LEADER_ELECTED,
        partition=after,
    )
