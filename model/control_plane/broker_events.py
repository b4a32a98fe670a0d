"""Controller events about a broker: fencing, registration, shutdown, AlterPartition.

Each action calls `decide` with its event and applies the decision to the whole state.
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
    """The controller fences b because its session has expired (BrokerHeartbeatManager, one broker in each step).

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
    """A heartbeat of b arrives after it has applied its own registration (handleBrokerUnfenced, KAFKA-13959).

    The controller rejects heartbeats of a broker that an operator has unregistered (checkBrokerEpoch).
    """
    require(s.registration[b].registered, "b is registered")
    require(s.registration[b].fenced, "b is fenced")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].view.partition_epoch > 0, "b has applied its own registration")
    require(not s.registration[b].in_controlled_shutdown, "b is not shutting down")
    decided = decide(c, controller_of(s), UnfenceEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(partition_changed(c, s, decided.controller.partition), registration=decided.controller.registration)


@action(
    message=Message("b", "Controller"),
    fairness=Fair("BrokerLifecycleManager retries until it gets a response: registration, reply"),
    event=("REGISTER_CLEAN", "REGISTER_UNCLEAN"),
    what_if="register",
)
def Register(c: Config, s: State, b: Replica) -> State:
    """A restarted broker registers; the controller decides whether its shutdown was clean (KIP-966).

    ClusterControlManager.registerBroker. If the old registration is unfenced, its session has expired and the
    controller has not fenced it yet; during the session the response is DUPLICATE_BROKER_REGISTRATION, and b retries.
    With ELR on, the first registration of an id after its unregistration is unclean.
    """
    broker = s.broker[b]
    old = s.registration[b]
    require(broker.status == Status.STARTING, "b is starting")
    require(old.fenced or c.register_before_fence, "the controller has fenced b")
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
    """b requests a controlled shutdown while it leads a partition: it leaves the ISR, unfenced (KIP-841).

    From now on it may neither lead nor join an ISR, until its next registration.
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
    fairness=Fair("heartbeats get responses; added"),
    event="GRANT_SHUTDOWN",
    because="no what-if operation: the partition does not change",
)
def GrantShutdown(c: Config, s: State, b: Replica) -> State:
    """b leads no partition any more, and every active broker has read this: the controller fences b (KIP-841).

    BrokerHeartbeatManager, SHUTDOWN_NOW. The partition does not change: b left the ISR when the shutdown began. b may
    also stop without the grant, after its own timeout (`lifecycle.CleanStop`). P-36 states what the grant promises.
    """
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    r = s.registration[b]
    require(r.in_controlled_shutdown and not r.fenced, "b is shutting down")
    require(s.partition.leader != b, "b leads no partition")
    require(
        all(s.broker[f].view.partition_epoch >= r.shutdown_offset for f in active(c, s.registration)),
        "every active broker has read that b is shutting down",
    )
    decided = decide(c, controller_of(s), GrantShutdownEvent(broker=b))
    return replace(s, registration=decided.controller.registration)


@action(fairness=Unfair("a request of an operator"), event="UNREGISTER", what_if="unregister")
def Unregister(c: Config, s: State, b: Replica) -> State:
    """An operator unregisters a broker (ReplicationControlManager.unregisterBroker), which should be down.

    The controller does not check this. A live broker goes on as leader or follower by the metadata that it reads: its
    heartbeats fail with STALE_BROKER_EPOCH, which BrokerLifecycleManager retries, and BrokerRegistrationTracker does
    not register it again. Only a restart does.
    """
    require(c.unregistrations > 0, "the scope has unregistrations")
    require(s.registration[b].registered, "b is registered")
    alive = s.broker[b].status != Status.OFFLINE
    require(not alive or c.live_unregistrations > 0, "b is offline, or the scope has unregistrations of live brokers")
    decided = decide(c, controller_of(s), UnregisterEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    live = s.spent.live_unregistrations + 1 if alive else s.spent.live_unregistrations
    return replace(
        partition_changed(c, s, decided.controller.partition),
        registration=decided.controller.registration,
        spent=replace(s.spent, unregistrations=s.spent.unregistrations + 1, live_unregistrations=live),
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def answer(c: Config, settings: Settings, leader: Replica, request: Exchange, decided: Decided) -> Exchange:
    """The response in flight. Only a success carries the new epochs and ISR of the partition.

    The new ISR is the proposal without the replicas that the end of a reassignment has removed.
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
    fairness=Fair("the controller handles each request: AlterPartition receive"),
    event="ALTER_PARTITION",
    what_if="alter_partition",
)
def ControllerAlters(c: Config, s: State, leader: Replica) -> State:
    """The controller handles the AlterPartition of leader; the sender may have died in the meantime.

    ReplicationControlManager.alterPartition; KIP-841 and KIP-903 for the requests that it rejects.
    """
    sender = s.broker[leader]
    sent = sender.alter
    require(sent.stage == Stage.SENT, "a request of leader is in flight")
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
