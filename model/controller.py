"""Controller events: fencing, unfencing, registration and AlterPartition.

The functions on a `Partition` and the broker registrations are the rules; the actions below them
apply a rule to the whole state. Sources: ReplicationControlManager, ClusterControlManager,
BrokerHeartbeatManager (Kafka controller); KIP-966, KIP-841, KIP-903.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, action, op, put, record, require
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.config import CleanCheck, Config, Reregistration
from elrcheck.model.partition import Election, change, target
from elrcheck.model.state import (
    BrokerEpoch,
    Epoch,
    Error,
    Exchange,
    Partition,
    PartitionEpoch,
    Recovery,
    Registration,
    Stage,
    State,
    Status,
    no_exchange,
    no_peers,
    no_view,
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
def active(c: Config, registration: Vec[Registration]) -> RSet:
    """Brokers that may lead: neither fenced nor in controlled shutdown."""
    return frozenset(
        b for b in c.brokers if not registration[b].fenced and not registration[b].in_controlled_shutdown
    )


@op
def election_type(c: Config) -> Election:
    """The election that broker events use: unclean only if the topic allows it."""
    return Election.UNCLEAN if c.unclean_leader_election_enable else Election.ONLINE


@op
def fenced_partition(c: Config, p: Partition, registration: Vec[Registration], b: Replica) -> Partition:
    """handleBrokerFenced: b leaves the ISR; the other brokers are seen as they are before this event."""
    if b not in p.isr:
        return p
    acceptable = active(c, registration) - {b}
    return change(c, p, target(p, p.isr - {b}, election_type(c), acceptable, EMPTY))


@op
def unfenced_partition(c: Config, p: Partition, registration: Vec[Registration], b: Replica) -> Partition:
    """handleBrokerUnfenced: only a partition without a leader is looked at."""
    if p.leader is not None or b not in p.replicas:
        return p
    acceptable = active(c, registration) | {b}
    return change(c, p, target(p, p.isr, election_type(c), acceptable, EMPTY))


@op
def unclean_partition(c: Config, p: Partition, registration: Vec[Registration], b: Replica) -> Partition:
    """handleUncleanBrokerShutdown: b leaves the ISR and the ELR and cannot be elected."""
    if b not in p.isr and b not in p.elr:
        return p
    acceptable = active(c, registration) - {b}
    return change(c, p, target(p, p.isr - {b}, election_type(c), acceptable, frozenset({b})))


@op
def shutdown_was_clean(c: Config, presented: BrokerEpoch, registered: BrokerEpoch) -> bool:
    """KIP-966: the epoch in the clean-shutdown file must be the one of the stored registration."""
    if c.clean_check == CleanCheck.EPOCH:
        return presented == registered
    return c.clean_check == CleanCheck.ALWAYS_CLEAN


@op
def registered_partition(
    c: Config, p: Partition, registration: Vec[Registration], b: Replica, clean: bool
) -> Partition:
    """ClusterControlManager.registerBroker: what a new incarnation of b does to the partition."""
    if not c.elr_enabled:
        if c.rereg_without_elr == Reregistration.IGNORE:
            return p
        return fenced_partition(c, p, registration, b)
    if clean:
        return fenced_partition(c, p, registration, b)
    return unclean_partition(c, p, registration, b)


@op
def new_incarnation(old: Registration) -> Registration:
    """A registration always starts fenced, with a broker epoch never used before."""
    return Registration(fenced=True, in_controlled_shutdown=False, epoch=old.epoch + 1)


@op
def member_is_eligible(
    c: Config, registration: Vec[Registration], member: Replica, carried: BrokerEpoch
) -> bool:
    """KIP-841 and KIP-903: an ISR member is live, and is the incarnation the leader heard from."""
    r = registration[member]
    live = (not r.fenced and not r.in_controlled_shutdown) or not c.alter_checks_fenced
    return live and (carried == 0 or carried == r.epoch or not c.alter_checks_epochs)


@op
def validate_alter(c: Config, p: Partition, registration: Vec[Registration], r: AlterRequest) -> Error:
    """ReplicationControlManager.validateAlterPartitionData, in its order."""
    if r.sender_epoch != registration[r.sender].epoch:
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
    if not all(member_is_eligible(c, registration, m, r.member_epochs[m]) for m in r.isr):
        return Error.INELIGIBLE_REPLICA
    return Error.NONE


@op
def alter_partition(c: Config, p: Partition, registration: Vec[Registration], r: AlterRequest) -> Decision:
    """ReplicationControlManager.alterPartition for one partition."""
    error = validate_alter(c, p, registration, r)
    if error != Error.NONE:
        return Decision(error=error, partition=p)
    wanted = target(p, r.isr, election_type(c), active(c, registration), EMPTY)
    after = change(c, p, replace(wanted, recovery=r.recovery))
    return Decision(
        error=Error.NONE if after.leader == r.sender else Error.NEW_LEADER_ELECTED,
        partition=after,
    )


# ---------------------------------------------------------------------------- actions


@action
def Fence(c: Config, s: State, b: Replica) -> State:
    """The controller fences b because its session expired (BrokerHeartbeatManager, one broker a step).

    A dead broker's session expires for free; fencing a live broker is a budgeted disturbance.
    """
    require(not s.registration[b].fenced, "b is unfenced")
    alive = s.broker[b].status == Status.RUNNING
    return replace(
        s,
        partition=fenced_partition(c, s.partition, s.registration, b),
        registration=put(s.registration, b, replace(s.registration[b], fenced=True)),
        spent=replace(s.spent, fences=s.spent.fences + 1 if alive else s.spent.fences),
    )


@action
def Unfence(c: Config, s: State, b: Replica) -> State:
    """Heartbeats of b arrive and it has applied its own registration (KAFKA-13959)."""
    require(s.registration[b].fenced, "b is fenced")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].view.partition_epoch > 0, "b has applied its own registration")
    return replace(
        s,
        partition=unfenced_partition(c, s.partition, s.registration, b),
        registration=put(s.registration, b, replace(s.registration[b], fenced=False)),
    )


@action
def Register(c: Config, s: State, b: Replica) -> State:
    """A restarted broker registers; the controller decides whether its shutdown was clean (KIP-966).

    An unfenced registration means its session has expired but the fencing was not executed yet;
    while the session is valid the answer is DUPLICATE_BROKER_REGISTRATION and b tries again.
    """
    me = s.broker[b]
    old = s.registration[b]
    require(me.status == Status.STARTING, "b is starting")
    require(old.fenced or c.register_before_fence, "b was fenced first")
    clean = shutdown_was_clean(c, me.clean_file, old.epoch)
    running = replace(
        me,
        status=Status.RUNNING,
        epoch=old.epoch + 1,
        clean_file=0,
        view=no_view(),
        epoch_start=0,
        peers=no_peers(c),
        alter=no_exchange(c),
    )
    return replace(
        s,
        partition=registered_partition(c, s.partition, s.registration, b, clean),
        registration=put(s.registration, b, new_incarnation(old)),
        broker=put(s.broker, b, running),
        lossy=s.lossy - {b},
    )


@op
def answer(x: Exchange, decision: Decision) -> Exchange:
    """The response on its way back. Only a success carries the partition's new epochs."""
    granted = decision.error == Error.NONE
    return replace(
        x,
        stage=Stage.ANSWERED,
        error=decision.error,
        leader_epoch=decision.partition.leader_epoch if granted else x.leader_epoch,
        partition_epoch=decision.partition.partition_epoch if granted else x.partition_epoch,
    )


@action
def ControllerAlters(c: Config, s: State, leader: Replica) -> State:
    """The controller handles the AlterPartition of leader; the sender may be dead by now."""
    me = s.broker[leader]
    require(me.alter.stage == Stage.SENT, "a request of leader is on its way")
    request = AlterRequest(
        sender=leader,
        sender_epoch=me.alter.member_epochs[leader],
        leader_epoch=me.alter.leader_epoch,
        partition_epoch=me.alter.partition_epoch,
        isr=me.alter.isr,
        member_epochs=me.alter.member_epochs,
        recovery=Recovery.RECOVERED,
    )
    decision = alter_partition(c, s.partition, s.registration, request)
    heard = me.status == Status.RUNNING
    return replace(
        s,
        partition=decision.partition,
        broker=put(
            s.broker, leader, replace(me, alter=answer(me.alter, decision) if heard else no_exchange(c))
        ),
    )
