"""The broker process: clean stop, crash that loses any suffix of the log, start.

Sources: BrokerLifecycleManager, LogManager (clean-shutdown file), KIP-966 "unclean shutdown"; ReplicaManager
(checkpointHighWatermarks) and Partition.createLog for the checkpoint of the high watermark. The start ends with the
registration, an event of the controller: `broker_events.Register`.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.absent import no_exchange, no_peers, no_view
from elrcheck.model.alternatives.reductions import forget_registration
from elrcheck.model.broker.epoch_cache import dies_before_flush, file_left, loaded
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, Offset, Stage, State, Status
from elrcheck.model.timeouts import is_expected_back


@op
def process_ends(c: Config, broker: Broker, keep: Offset) -> Broker:
    """The broker without its memory; a request already sent still reaches the controller.

    keep: the number of records in its log that survive.
    """
    ended = replace(
        file_left(broker, keep),
        status=Status.OFFLINE,
        epoch=0,
        view=no_view(c),
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=broker.alter if broker.alter.stage == Stage.SENT else no_exchange(c),
        ahead=0,
        due_min_isr=0,
        early=0,
    )
    return forget_registration(c, ended)


@op
def late_flushes(s: State, broker: Broker, keep: Offset) -> int:
    """The budget of late flushes spent when the process ends."""
    return s.spent.late_flushes + 1 if dies_before_flush(broker, keep) else s.spent.late_flushes


@op
def with_checkpoint(c: Config, broker: Broker) -> Broker:
    """The broker after it has written its high watermark to the checkpoint file."""
    return replace(broker, checkpoint=broker.high_watermark) if c.old_checkpoints > 0 else broker


@action(fairness=Unfair("a disturbance"))
def CleanStop(c: Config, s: State, b: Replica) -> State:
    """b stops cleanly: it flushes its log and writes a clean-shutdown file (KIP-966).

    After a request for a controlled shutdown it waits for the grant, or until its own timeout expires
    (BrokerServer.shutdown, controlledShutdownFuture). The stop is clean in both cases. The controller grants the
    shutdown of a fenced broker at once (BrokerHeartbeatManager.calculateNextBrokerState).
    """
    broker = s.broker[b]
    waits = s.registration[b].in_controlled_shutdown and not s.registration[b].fenced
    require(broker.status == Status.RUNNING, "b is running")
    require(not waits or c.shutdown_timeouts > 0, "b does not wait for a grant, or its timeout expires")
    ended = process_ends(c, broker, len(broker.log))
    stopped = replace(with_checkpoint(c, ended), clean_file=broker.epoch)
    return replace(
        s,
        broker=put(s.broker, b, stopped),
        spent=replace(
            s.spent,
            clean_stops=s.spent.clean_stops + 1,
            shutdown_timeouts=s.spent.shutdown_timeouts + 1 if waits else s.spent.shutdown_timeouts,
            late_flushes=late_flushes(s, broker, len(broker.log)),
        ),
    )


@action(fairness=Unfair("a disturbance"))
def Crash(c: Config, s: State, b: Replica, keep: Offset) -> State:
    """b crashes and retains only the first `keep` records of its log (KIP-966).

    It leaves no clean-shutdown file: it deleted the previous one when it started.
    """
    broker = s.broker[b]
    require(broker.status != Status.OFFLINE, "b is running or starting")
    require(keep <= len(broker.log), "keep is at most the length of the log")
    dead = replace(
        process_ends(c, broker, keep),
        clean_file=0,
        log=broker.log[:keep],
        high_watermark=min(broker.high_watermark, keep),
    )
    return replace(
        s,
        broker=put(s.broker, b, dead),
        lossy=s.lossy | ({b} if keep < len(broker.log) else EMPTY),
        spent=replace(s.spent, crashes=s.spent.crashes + 1, late_flushes=late_flushes(s, broker, keep)),
    )


@action(fairness=Unfair("a disturbance"))
def Kill(c: Config, s: State, b: Replica) -> State:
    """The process of b is killed, but its log survives in the page cache: no record is lost.

    The controller cannot distinguish this from a crash: neither leaves a clean-shutdown file (KIP-966).
    """
    broker = s.broker[b]
    require(c.kills > 0, "the scope has kills")
    require(broker.status != Status.OFFLINE, "b is running or starting")
    dead = replace(process_ends(c, broker, len(broker.log)), clean_file=0)
    return replace(
        s,
        broker=put(s.broker, b, dead),
        spent=replace(s.spent, kills=s.spent.kills + 1, late_flushes=late_flushes(s, broker, len(broker.log))),
    )


@action(fairness=Unfair("a disturbance"))
def OldCheckpoint(c: Config, s: State, b: Replica, at: Offset) -> State:
    """The last checkpoint of b's high watermark before its process ended is not the last high watermark.

    A task writes it every replica.high.watermark.checkpoint.interval.ms, and so does a clean stop. It may be ahead if
    b has truncated since. Partition.createLog reads it and caps it at the log end offset.
    """
    broker = s.broker[b]
    first, last = broker.checkpoint, broker.high_watermark
    require(c.old_checkpoints > 0, "the scope has old checkpoints")
    require(broker.status == Status.OFFLINE, "b is offline")
    require(at != last and at <= len(broker.log), "at is another offset within the log")
    require(at >= min(first, last) and at <= max(first, last), "at lies between its first and its last high watermark")
    return replace(
        s,
        broker=put(s.broker, b, replace(broker, high_watermark=at, checkpoint=at)),
        spent=replace(s.spent, old_checkpoints=s.spent.old_checkpoints + 1),
    )


@action(fairness=Fair("a dead process restarts, unless its broker has been unregistered: start", when=is_expected_back))
def Start(c: Config, s: State, b: Replica) -> State:
    """b starts: LogManager reads and deletes the clean-shutdown file, to present it at registration."""
    broker = s.broker[b]
    require(broker.status == Status.OFFLINE, "b is offline")
    started = with_checkpoint(c, loaded(c, broker))
    return replace(s, broker=put(s.broker, b, replace(started, status=Status.STARTING)))
