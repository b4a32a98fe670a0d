"""A fetch whose answer takes its time: what may come between request, check, read and arrival.

Sources: ReplicaManager.fetchMessages and readFromLog, AbstractFetcherThread.processFetchRequest;
KAFKA-13207, KAFKA-18723, KAFKA-18991.

`replica.Fetch` is the fetch nothing comes between. Here the leader checks the epoch, compares the
logs and notes how far the follower is; later it reads its log, by then perhaps as somebody else's
follower; later still the response arrives, perhaps in another epoch. At most one such fetch is
under way at a time, and their number is budgeted.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.lang.types import Replica
from elrcheck.model.broker.high_watermark import with_committed
from elrcheck.model.broker.logs import (
    EpochEnd,
    fetch_diverges,
    leader_end_for,
    settled_after_fetch,
    truncation_point,
)
from elrcheck.model.broker.replica import epoch_accepted, noted
from elrcheck.model.config import Config
from elrcheck.model.state import Broker, LateFetch, LateFetches, Log, Peer, State, Status, leads
from elrcheck.model.timeouts import answer_cannot_come


@op
def only(x: LateFetch) -> LateFetches:
    """The one fetch under way."""
    nothing: LateFetches = ()
    return nothing + (x,)  # noqa: RUF005


@op
def none_late(c: Config) -> LateFetches:
    nothing: LateFetches = ()
    return nothing


@action(
    message=Message("f", "leader"),
    fairness=Unfair("a disturbance: other events come between request and answer"),
)
def SendLateFetch(c: Config, s: State, f: Replica, leader: Replica) -> State:
    """f fetches; leader accepts the request, notes f's log end and has yet to read its log."""
    me = s.broker[f]
    you = s.broker[leader]
    require(c.late_fetches > 0, "the scope has late fetches")
    require(len(s.fetching) == 0, "no late fetch is under way")
    require(f != leader, "f is not l")
    require(me.status == Status.RUNNING and me.view.leader == leader, "f follows l")
    require(f in me.view.replicas and f in you.view.replicas, "f is a replica")
    require(leads(s, leader), "l leads")
    require(epoch_accepted(c, me.view.leader_epoch, you.view.leader_epoch), "l leads in the epoch of f")
    diverging = fetch_diverges(c, you, me)
    end = leader_end_for(c, you, me.log)
    seen = noted(c, s.settings, you, leader, f, Peer(log_end_offset=len(me.log), broker_epoch=me.epoch))
    after = you if diverging else seen
    nothing: Log = ()
    sent = LateFetch(
        follower=f,
        leader=leader,
        follower_epoch=me.epoch,
        leader_broker_epoch=you.epoch,
        leader_epoch=me.view.leader_epoch,
        offset=len(me.log),
        high_watermark=after.high_watermark,
        diverging=diverging,
        end_epoch=end.epoch if diverging else 0,
        end_offset=end.offset if diverging else 0,
        answered=diverging,
        records=nothing,
    )
    return replace(
        s,
        broker=put(s.broker, leader, after),
        fetching=only(sent),
        committed=with_committed(s.committed, after),
        spent=replace(s.spent, late_fetches=s.spent.late_fetches + 1),
    )


@action(fairness=Fair("the leader handles a fetch that takes several steps: fetch receive"))
def ReadForLateFetch(c: Config, s: State) -> State:
    """The leader, or whoever it is by now, reads its log from the offset of the late fetch."""
    require(len(s.fetching) > 0, "a late fetch is under way")
    x = s.fetching[0]
    you = s.broker[x.leader]
    require(not x.answered, "the log has not been read yet")
    require(you.status == Status.RUNNING and you.epoch == x.leader_broker_epoch, "l still runs")
    nothing: Log = ()
    read = nothing + (you.log[x.offset],) if x.offset < len(you.log) else nothing  # noqa: RUF005
    return replace(s, fetching=only(replace(x, answered=True, records=read)))


@op
def usable(c: Config, me: Broker, x: LateFetch) -> bool:
    """The follower still is where it was when it sent the fetch, as far as it checks that."""
    return (
        me.status == Status.RUNNING
        and me.epoch == x.follower_epoch
        and len(me.log) == x.offset
        and (me.view.leader == x.leader or not c.response_checks_leader)
        and (me.view.leader_epoch == x.leader_epoch or not c.response_checks_epoch)
    )


@op
def cut_by(me: Broker, x: LateFetch) -> Broker:
    """The follower after a response that says its log diverges."""
    keep = truncation_point(me.log, EpochEnd(epoch=x.end_epoch, offset=x.end_offset))
    return replace(me, log=me.log[:keep], high_watermark=min(me.high_watermark, keep))


@op
def grown_by(c: Config, me: Broker, x: LateFetch) -> Broker:
    """The follower after a response with records, or with none that it takes."""
    fits = all(e.epoch <= x.leader_epoch for e in x.records) or not c.response_checks_records
    log = me.log + x.records if fits else me.log
    return replace(
        me,
        log=log,
        high_watermark=min(x.high_watermark, len(log)),
        settled=settled_after_fetch(c, me, len(log) > len(me.log)),
    )


@action(fairness=Fair("the leader's response arrives: fetch reply"))
def LateFetchReturns(c: Config, s: State) -> State:
    """The response of the late fetch arrives; a follower that has moved on drops it."""
    require(len(s.fetching) > 0, "a late fetch is under way")
    x = s.fetching[0]
    require(x.answered, "the log has been read")
    me = s.broker[x.follower]
    after = (cut_by(me, x) if x.diverging else grown_by(c, me, x)) if usable(c, me, x) else me
    return replace(s, broker=put(s.broker, x.follower, after), fetching=none_late(c))


@action(fairness=Fair("a request without an answer times out; added", when=answer_cannot_come))
def LoseLateFetch(c: Config, s: State) -> State:
    """The late fetch or its response is lost."""
    require(len(s.fetching) > 0, "a late fetch is under way")
    return replace(s, fetching=none_late(c))
