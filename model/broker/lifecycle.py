"""The broker process: orderly stop, crash that loses any suffix of the log, start.

Sources: BrokerLifecycleManager, LogManager (clean-shutdown file), KIP-966 "unclean shutdown".
Registration, which ends the start, is an event of the controller: `controller.Register`.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica
from elrcheck.model.absent import no_exchange, no_peers, no_view
from elrcheck.model.alternatives.reductions import still_to_reach
from elrcheck.model.config import Config
from elrcheck.model.state import Broker, Offset, Stage, State, Status


@op
def process_ends(c: Config, me: Broker) -> Broker:
    """What is in memory is gone; a request already sent still travels to the controller."""
    return replace(
        me,
        status=Status.OFFLINE,
        epoch=0,
        registered_at=still_to_reach(c, me.registered_at),
        view=no_view(c),
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=me.alter if me.alter.stage == Stage.SENT else no_exchange(c),
    )


@action(fairness=Unfair("a disturbance"))
def CleanStop(c: Config, s: State, b: Replica) -> State:
    """b stops in an orderly way: everything is flushed and the clean-shutdown file holds its broker epoch."""
    me = s.broker[b]
    require(me.status == Status.RUNNING, "b is running")
    stopped = replace(process_ends(c, me), clean_file=me.epoch)
    return replace(
        s, broker=put(s.broker, b, stopped), spent=replace(s.spent, clean_stops=s.spent.clean_stops + 1)
    )


@action(fairness=Unfair("a disturbance"))
def Crash(c: Config, s: State, b: Replica, keep: Offset) -> State:
    """b dies without an orderly shutdown and keeps only the first `keep` records of its log.

    No clean-shutdown file is left, and one read at the start that is interrupted is gone too.
    """
    me = s.broker[b]
    require(me.status != Status.OFFLINE, "b is up")
    require(keep <= len(me.log), "keep is a prefix of the log")
    dead = replace(
        process_ends(c, me),
        clean_file=0,
        log=me.log[:keep],
        high_watermark=min(me.high_watermark, keep),
    )
    return replace(
        s,
        broker=put(s.broker, b, dead),
        lossy=s.lossy | ({b} if keep < len(me.log) else EMPTY),
        spent=replace(s.spent, crashes=s.spent.crashes + 1),
    )


@action(fairness=Unfair("a disturbance"))
def Kill(c: Config, s: State, b: Replica) -> State:
    """b dies without an orderly shutdown, but its log survives in the page cache: nothing is lost.

    The controller cannot tell this from a crash; both leave no clean-shutdown file.
    """
    me = s.broker[b]
    require(c.kills > 0, "the scope has kills")
    require(me.status != Status.OFFLINE, "b is up")
    dead = replace(process_ends(c, me), clean_file=0)
    return replace(
        s, broker=put(s.broker, b, dead), spent=replace(s.spent, kills=s.spent.kills + 1)
    )


@action(fairness=Fair("a dead process is started again: start"))
def Start(c: Config, s: State, b: Replica) -> State:
    """b starts: the clean-shutdown file is read and deleted, to be presented at registration."""
    me = s.broker[b]
    require(me.status == Status.OFFLINE, "b is offline")
    return replace(s, broker=put(s.broker, b, replace(me, status=Status.STARTING)))
