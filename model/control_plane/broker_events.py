"""Events of the controller that concern a broker: fencing, registration, shutdown, AlterPartition.

Each action chooses the rule of `controller.py` and applies its result to the whole state.
Sources: ClusterControlManager, BrokerHeartbeatManager, ReplicationControlManager; KIP-966, KIP-841.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.lang.types import Replica
from elrcheck.model.absent import no_exchange, no_peers, no_view, recovery_after
from elrcheck.model.alternatives.reductions import keeps_registration, kept_up, without_members
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import (
    AlterRequest,
    Decision,
    active,
    alter_partition,
    fenced_partition,
    new_incarnation,
    registered_partition,
    shutdown_was_clean,
    unfenced_partition,
    unregistered_partition,
)
from elrcheck.model.state import (
    Error,
    Exchange,
    Recovery,
    Settings,
    Stage,
    State,
    Status,
    known_min_isr,
    logged,
)
from elrcheck.model.timeouts import session_is_over

# ---------------------------------------------------------------------------- sessions


@action(
    fairness=Fair(
        "the session of a dead broker expires (BrokerHeartbeatManager); added, older versions register"
        " only after it",
        when=session_is_over,
    ),
    event="FENCE",
    what_if="fence",
)
def Fence(c: Config, s: State, b: Replica) -> State:
    """The controller fences b because its session expired (BrokerHeartbeatManager, one broker a step).

    A dead broker's session expires for free; fencing a live broker is a budgeted disturbance.
    """
    require(not s.registration[b].fenced, "b is unfenced")
    alive = s.broker[b].status == Status.RUNNING
    after = fenced_partition(c, s.settings, s.partition, s.registration, b)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
        registration=put(s.registration, b, replace(s.registration[b], fenced=True)),
        spent=replace(s.spent, fences=s.spent.fences + 1 if alive else s.spent.fences),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("heartbeats of a live broker arrive: unfence"),
    event="UNFENCE",
    what_if="unfence",
)
def Unfence(c: Config, s: State, b: Replica) -> State:
    """Heartbeats of b arrive and it has applied its own registration (KAFKA-13959)."""
    require(s.registration[b].fenced, "b is fenced")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].view.partition_epoch > 0, "b has applied its own registration")
    require(not s.registration[b].in_controlled_shutdown, "b is not shutting down")
    after = unfenced_partition(c, s.settings, s.partition, s.registration, b)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
        registration=put(s.registration, b, replace(s.registration[b], fenced=False)),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("BrokerLifecycleManager retries until it is answered: registration, reply"),
    event=("REGISTER_CLEAN", "REGISTER_UNCLEAN"),
    what_if="register",
)
def Register(c: Config, s: State, b: Replica) -> State:
    """A restarted broker registers; the controller decides whether its shutdown was clean (KIP-966).

    An unfenced registration means its session has expired but the fencing was not executed yet;
    while the session is valid the answer is DUPLICATE_BROKER_REGISTRATION and b tries again. The
    first registration of an id, and one after it was unregistered, does nothing to the partition.
    """
    me = s.broker[b]
    old = s.registration[b]
    require(me.status == Status.STARTING, "b is starting")
    require(old.fenced or c.register_before_fence, "b was fenced first")
    clean = shutdown_was_clean(c, me.clean_file, old.epoch)
    after = registered_partition(c, s.settings, s.partition, s.registration, b, clean)
    running = replace(
        me,
        status=Status.RUNNING,
        epoch=old.epoch + 1,
        registered_at=after.partition_epoch if keeps_registration(c) else me.registered_at,
        min_isr=known_min_isr(c, s.settings, b),
        clean_file=0,
        view=no_view(c),
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=no_exchange(c),
    )
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        recovery=recovery_after(c, s, after),
        registration=put(s.registration, b, new_incarnation(old)),
        broker=put(kept_up(c, s, after), b, running),
        lossy=s.lossy - {b},
    )


# ---------------------------------------------------------------------------- shutdown


@action(
    message=Message("b", "Controller"),
    fairness=Unfair("a request of the broker"),
    event="START_SHUTDOWN",
    what_if="controlled_shutdown",
)
def StartControlledShutdown(c: Config, s: State, b: Replica) -> State:
    """b asks to shut down while it still leads something: it leaves the ISR, unfenced (KIP-841).

    From now on it may not lead nor join an ISR; only a new registration ends this.
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    r = s.registration[b]
    require(r.registered and not r.fenced and not r.in_controlled_shutdown, "b is active")
    require(s.broker[b].status == Status.RUNNING and s.broker[b].epoch == r.epoch, "b is running")
    after = fenced_partition(c, s.settings, s.partition, s.registration, b)
    leaving = replace(r, in_controlled_shutdown=True, shutdown_offset=after.partition_epoch)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
        registration=put(s.registration, b, leaving),
        spent=replace(s.spent, shutdowns=s.spent.shutdowns + 1),
    )


@action(
    message=Message("Controller", "b"),
    fairness=Fair("heartbeats are answered; added"),
    event="GRANT_SHUTDOWN",
    because="no what-if operation: the partition stays as it is",
)
def GrantShutdown(c: Config, s: State, b: Replica) -> State:
    """b leads nothing any more and every active broker knows it: the controller fences b and lets it go.

    The partition does not change: b left the ISR when the shutdown began. b may also stop without
    this, when its own shutdown timeout is over (`lifecycle.CleanStop`).
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    r = s.registration[b]
    require(r.in_controlled_shutdown and not r.fenced, "b is shutting down")
    require(s.partition.leader != b, "b leads nothing")
    require(
        all(s.broker[f].view.partition_epoch >= r.shutdown_offset for f in active(c, s.registration)),
        "the active brokers have applied its retreat",
    )
    return replace(s, registration=put(s.registration, b, replace(r, fenced=True)))


@action(
    fairness=Unfair("a request of an operator"),
    event="UNREGISTER",
    because="what-if has no operation for it so far",
)
def Unregister(c: Config, s: State, b: Replica) -> State:
    """An operator unregisters a broker that is down (ClusterControlManager.unregisterBroker)."""
    require(c.unregistrations > 0, "the scope has unregistrations")
    require(s.registration[b].registered, "b is registered")
    require(s.broker[b].status == Status.OFFLINE, "b is down")
    after = unregistered_partition(c, s.settings, s.partition, s.registration, b)
    gone = replace(s.registration[b], registered=False, fenced=True, in_controlled_shutdown=False)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
        registration=put(s.registration, b, gone),
        spent=replace(s.spent, unregistrations=s.spent.unregistrations + 1),
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def answer(c: Config, g: Settings, leader: Replica, x: Exchange, decision: Decision) -> Exchange:
    """The response on its way back. Only a success carries the partition's new epochs and ISR.

    The new ISR is the proposal without replicas that a reassignment, now complete, has removed.
    """
    granted = decision.error == Error.NONE
    return replace(
        without_members(c, x, leader, decision.partition),
        stage=Stage.ANSWERED,
        error=decision.error,
        isr=x.isr & frozenset(decision.partition.replicas) if granted else x.isr,
        min_isr=known_min_isr(c, g, leader) if granted else 0,
        leader_epoch=decision.partition.leader_epoch if granted else x.leader_epoch,
        partition_epoch=decision.partition.partition_epoch if granted else x.partition_epoch,
    )


@action(
    message=Message("Controller", "leader"),
    fairness=Fair("the controller handles a request: AlterPartition receive"),
    event="ALTER_PARTITION",
    what_if="alter_partition",
)
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
    decision = alter_partition(c, s.settings, s.partition, s.registration, request)
    heard = me.status == Status.RUNNING
    told = answer(c, s.settings, leader, me.alter, decision)
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
        broker=put(
            kept_up(c, s, decision.partition),
            leader,
            replace(me, alter=told if heard else no_exchange(c)),
        ),
    )
