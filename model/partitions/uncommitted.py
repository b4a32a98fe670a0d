"""Records that are committed later than they are written, and a failover that loses those that are not.

The active controller replays what it writes at once, and decides later events from that image. It answers when the
records are committed. If it fails or resigns, the next controller has the committed records, and commits those of the
others that it has. The model has no suffix of which some records survive: a lost suffix leaves nothing behind, so that
this is a commit followed by the loss of the rest, and an answer is a step of its own, which may never come.

Sources: QuorumController (ControllerWriteEvent.run, handleCommit, handleLeaderChange, renounce, claim),
OffsetControlManager.deactivate, DeferredEventQueue.failAll, ClusterControlManager (registerBroker, activate),
BrokerLifecycleManager. The only other state of a controller is that of sessions and heartbeats, which begins anew: a
session may expire at any moment, and GrantShutdown has no condition that other brokers have read anything.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import action, op, put, require
from elrcheck.model.partitions.broker_batches import after_restart, may_restart, registration_batch
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, Fault, Process, Stable
from elrcheck.model.partitions.images import committed, fails, runs
from elrcheck.model.partitions.indexes import recomputed
from elrcheck.model.replicas import Replica, RSet, Vec
from elrcheck.model.state import Registration

# ---------------------------------------------------------------------------- the log


@op
def written_image(s: ControllerState) -> Stable:
    return Stable(
        settings=s.settings,
        topics=s.topics,
        registration=s.registration,
        indexes=s.indexes,
        registered=s.registered,
        spent=s.spent,
    )


@action
def CommitWritten(c: ControllerConfig, s: ControllerState) -> ControllerState:
    """All records written so far are committed, by this controller or by the next one, which has them too."""
    require(c.loses_uncommitted, "records are committed later than they are written")
    require(written_image(s) != s.stable, "a record is not committed")
    return replace(s, stable=written_image(s))


@action
def LoseUncommitted(c: ControllerConfig, s: ControllerState, from_snapshot: bool) -> ControllerState:
    """Another controller becomes active with the committed records only, or the same one after it has resigned.

    It has reverted to the last stable offset, replayed those records, or loaded a snapshot of them.
    """
    require(c.loses_uncommitted, "records are committed later than they are written")
    require(c.snapshots > 0 or not from_snapshot, "the scope has controllers that start from a snapshot")
    require(written_image(s) != s.stable or not runs(s) or from_snapshot, "a record is lost, or the indexes are loaded")
    image = s.stable
    return replace(
        s,
        settings=image.settings,
        topics=image.topics,
        registration=image.registration,
        indexes=recomputed(c, image.topics) if from_snapshot else image.indexes,
        registered=image.registered,
        fault=Fault.NONE,
        spent=replace(image.spent, crashes=s.spent.crashes, clean_stops=s.spent.clean_stops),
    )


# ---------------------------------------------------------------------------- processes of brokers


@action
def Restart(c: ControllerConfig, s: ControllerState, b: Replica, clean: bool) -> ControllerState:
    """The process of b stops cleanly or dies, and another one starts, which is not registered yet.

    The clean-shutdown file has the broker epoch of the process that stopped, or none that a registration can have.
    """
    require(c.loses_uncommitted, "a process starts before it is registered")
    before = s.processes[b]
    answered = before.epoch > 0
    after = Process(
        epoch=0,
        earlier_epoch=before.epoch if answered else before.earlier_epoch,
        proves=clean and answered,
        may_stop=False,
    )
    spent = after_restart(s, clean)
    stable = replace(
        s.stable,
        registered=s.stable.registered - {b},
        spent=replace(s.stable.spent, crashes=spent.crashes, clean_stops=spent.clean_stops),
    )
    return replace(s, processes=put(s.processes, b, after), registered=s.registered - {b}, stable=stable, spent=spent)


@action
def RegisterProcess(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """The new process of b registers, again after a failover that has lost its registration (registerBroker).

    Its proof of a clean shutdown is the epoch in its file. If a failover keeps the registration, b repeats the request,
    which changes nothing, as the incarnation is the registered one.
    """
    require(c.loses_uncommitted, "a process starts before it is registered")
    require(runs(s), "the controller has not resigned")
    process = s.processes[b]
    require(process.epoch == 0 and b not in s.registered, "the process is not registered")
    require(may_restart(c, s, b), "the controller has fenced b")
    clean = process.proves and process.earlier_epoch == s.registration[b].epoch
    batch = registration_batch(c, s, b, clean)
    registered = s.registered if fails(batch) else s.registered | {b}
    return replace(committed(c, s, batch, Fault.REGISTRATION, s.spent), registered=registered)


@op
def answered_from(c: ControllerConfig, s: ControllerState) -> Vec[Registration]:
    """The registrations about which the controller may answer: the committed ones (DeferredEventQueue)."""
    return s.registration if c.answers_uncommitted else s.stable.registration


@op
def answered_processes(c: ControllerConfig, s: ControllerState) -> RSet:
    return s.registered if c.answers_uncommitted else s.stable.registered


@action
def LearnEpoch(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """The answer to a registration, or to its repetition after a failover, tells the process of b its broker epoch."""
    require(c.loses_uncommitted, "a process starts before it is registered")
    process = s.processes[b]
    require(process.epoch == 0 and b in answered_processes(c, s), "the registration is committed")
    epoch = answered_from(c, s)[b].epoch
    return replace(s, processes=put(s.processes, b, replace(process, epoch=epoch)))


@action
def LearnShutdown(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """The answer to a heartbeat tells b that it may stop (shouldShutDown)."""
    require(c.loses_uncommitted, "a heartbeat is answered later")
    process = s.processes[b]
    r = answered_from(c, s)[b]
    require(process.epoch > 0 and not process.may_stop, "b waits for an answer")
    require(r.registered and r.fenced and r.in_controlled_shutdown, "the end of its shutdown is committed")
    require(r.epoch == process.epoch, "it is about the process of b")
    return replace(s, processes=put(s.processes, b, replace(process, may_stop=True)))
