"""Events of the controller that concern a broker: fencing, registration, shutdown, AlterPartition.

Each action asks `decide` about its event and applies the decision to the whole state.
Sources: ClusterControlManager, BrokerHeartbeatManager, ReplicationControlManager; KIP-966, KIP-841.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.model.absent import no_exchange, no_peers, no_view
from elrcheck.model.alternatives.reductions import forget_members, forget_useless_registration
from elrcheck.model.broker.log_directories import brings_directory, directory_at_registration, presented_epoch
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.controller_event import (
    AlterPartitionEvent,
    Decided,
    FenceEvent,
    GrantShutdownEvent,
    RegisterEvent,
    StartShutdownEvent,
    UnfenceEvent,
    UnregisterEvent,
)
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import active, controller_of
from elrcheck.model.state import Exchange, Recovery, Settings, Stage, State, Status, hosts
from elrcheck.model.timeouts import session_is_over

# ---------------------------------------------------------------------------- sessions


@action(
    fairness=Fair(
        "the session of a dead broker expires (BrokerHeartbeatManager); added, older versions register only after it",
        when=session_is_over,
    ),
    event="FENCE",
    what_if="fence",
)
def Fence(c: Config, s: State, b: Replica) -> State:
    """The controller fences b because its session expired (BrokerHeartbeatManager, one broker a step).

    The session of a dead broker expires for free; fencing a live broker is a budgeted disturbance.
    """
    require(not s.registration[b].fenced, "b is unfenced")
    decided = decide(c, controller_of(s), FenceEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    alive = s.broker[b].status == Status.RUNNING
    return replace(
        partition_changed(c, s, decided.controller.partition),
        registration=decided.controller.registration,
        spent=replace(s.spent, fences=s.spent.fences + 1 if alive else s.spent.fences),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("heartbeats of a live broker arrive: unfence"),
    event="UNFENCE",
    what_if="unfence",
)
def Unfence(c: Config, s: State, b: Replica) -> State:
    """Heartbeats of b arrive and it has applied its own registration (handleBrokerUnfenced, KAFKA-13959)."""
    require(s.registration[b].fenced, "b is fenced")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].view.partition_epoch > 0, "b has applied its own registration")
    require(not s.registration[b].in_controlled_shutdown, "b is not shutting down")
    decided = decide(c, controller_of(s), UnfenceEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(partition_changed(c, s, decided.controller.partition), registration=decided.controller.registration)


@action(
    message=Message("b", "Controller"),
    fairness=Fair("BrokerLifecycleManager retries until it is answered: registration, reply"),
    event=("REGISTER_CLEAN", "REGISTER_UNCLEAN"),
    what_if="register",
)
def Register(c: Config, s: State, b: Replica) -> State:
    """A restarted broker registers; the controller decides whether its shutdown was clean (KIP-966).

    ClusterControlManager.registerBroker. If the old registration is unfenced, its session has expired but
    the fencing was not executed yet; while the session is valid the answer is
    DUPLICATE_BROKER_REGISTRATION and b tries again. The first registration of an id after it was
    unregistered is an unclean one while ELR is on.
    """
    broker = s.broker[b]
    old = s.registration[b]
    require(broker.status == Status.STARTING, "b is starting")
    require(old.fenced or c.register_before_fence, "b was fenced first")
    request = RegisterEvent(broker=b, presented=presented_epoch(c, broker), brings_directory=brings_directory(broker))
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the controller does not fault")
    after = decided.controller.partition
    changed = partition_changed(c, s, after)
    running = replace(
        broker,
        status=Status.RUNNING,
        epoch=old.epoch + 1,
        registered_at=after.partition_epoch,
        min_isr=known_min_isr(c, s.settings, b),
        clean_file=0,
        view=no_view(c),
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=no_exchange(c),
        log_dir=directory_at_registration(broker),
        early=0,
    )
    return replace(
        changed,
        registration=decided.controller.registration,
        broker=put(changed.broker, b, forget_useless_registration(c, broker, running)),
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
    """b asks for a controlled shutdown while it still leads something: it leaves the ISR, unfenced (KIP-841).

    From now on it may not lead nor join an ISR; only a new registration ends this.
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    r = s.registration[b]
    require(r.registered and not r.fenced and not r.in_controlled_shutdown, "b is active")
    require(s.broker[b].status == Status.RUNNING and s.broker[b].epoch == r.epoch, "b is running")
    decided = decide(c, controller_of(s), StartShutdownEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        registration=decided.controller.registration,
        spent=replace(s.spent, shutdowns=s.spent.shutdowns + 1),
    )


@action(
    message=Message("Controller", "b"),
    fairness=Fair("heartbeats are answered; added"),
    event="GRANT_SHUTDOWN",
    because="no what-if operation: the partition stays as it is",
)
def GrantShutdown(c: Config, s: State, b: Replica) -> State:
    """b leads nothing any more and every active broker knows it: the controller fences b (KIP-841).

    BrokerHeartbeatManager, SHUTDOWN_NOW. The partition does not change: b left the ISR when the shutdown
    began. b may also stop without this, when its own timeout has passed (`lifecycle.CleanStop`). P-36 says
    what the grant promises.
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    r = s.registration[b]
    require(r.in_controlled_shutdown and not r.fenced, "b is shutting down")
    require(s.partition.leader != b, "b leads nothing")
    require(
        all(s.broker[f].view.partition_epoch >= r.shutdown_offset for f in active(c, s.registration)),
        "every active broker knows that b has resigned",
    )
    decided = decide(c, controller_of(s), GrantShutdownEvent(broker=b))
    return replace(s, registration=decided.controller.registration)


@action(fairness=Unfair("a request of an operator"), event="UNREGISTER", what_if="unregister")
def Unregister(c: Config, s: State, b: Replica) -> State:
    """An operator unregisters a broker that is down (ClusterControlManager.unregisterBroker)."""
    require(c.unregistrations > 0, "the scope has unregistrations")
    require(s.registration[b].registered, "b is registered")
    require(s.broker[b].status == Status.OFFLINE, "b is down")
    decided = decide(c, controller_of(s), UnregisterEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        registration=decided.controller.registration,
        spent=replace(s.spent, unregistrations=s.spent.unregistrations + 1),
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def answer(c: Config, settings: Settings, leader: Replica, request: Exchange, decided: Decided) -> Exchange:
    """The response on its way back. Only a success carries the partition's new epochs and ISR.

    The new ISR is the proposal without replicas that a reassignment, now complete, has removed.
    """
    granted = decided.error == Error.NONE
    p = decided.controller.partition
    return replace(
        forget_members(c, request, leader, p),
        stage=Stage.ANSWERED,
        error=decided.error,
        isr=request.isr & frozenset(p.replicas) if granted else request.isr,
        min_isr=known_min_isr(c, settings, leader) if granted and c.alter_answer_carries_min_isr else 0,
        leader_epoch=p.leader_epoch if granted else request.leader_epoch,
        partition_epoch=p.partition_epoch if granted else request.partition_epoch,
    )


@action(
    message=Message("Controller", "leader"),
    fairness=Fair("the controller handles a request: AlterPartition receive"),
    event="ALTER_PARTITION",
    what_if="alter_partition",
)
def ControllerAlters(c: Config, s: State, leader: Replica) -> State:
    """The controller handles the AlterPartition of leader; the sender may be dead by now.

    ReplicationControlManager.alterPartition; KIP-841 and KIP-903 for what it refuses.
    """
    sender = s.broker[leader]
    sent = sender.alter
    require(sent.stage == Stage.SENT, "a request of leader is on its way")
    request = AlterPartitionEvent(
        sender=leader,
        sender_epoch=sent.member_epochs[leader],
        leader_epoch=sent.leader_epoch,
        partition_epoch=sent.partition_epoch,
        isr=sent.isr,
        member_epochs=sent.member_epochs,
        recovery=Recovery.RECOVERED,
    )
    decided = decide(c, controller_of(s), request)
    changed = partition_changed(c, s, decided.controller.partition)
    alive = sender.status == Status.RUNNING and hosts(sender)
    exchange = answer(c, s.settings, leader, sent, decided) if alive else no_exchange(c)
    return replace(changed, broker=put(changed.broker, leader, replace(sender, alter=exchange)))
