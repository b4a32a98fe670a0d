"""A fetch in steps: the request, the leader's read and the arrival of the response, with other events in between.

Sources: ReplicaManager.fetchMessages and readFromLog, AbstractFetcherThread.processFetchRequest;
KAFKA-13207, KAFKA-18723, KAFKA-18991.

`replica.Fetch` is a fetch in one step. Here the leader first checks the epoch, compares the logs and updates the
follower state; later it reads its log, when it may follow another leader; finally the response arrives, perhaps in
another epoch. At most one such fetch is in flight, and a budget bounds their number.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.model.broker.epoch_cache import cut, grown, last_epoch
from elrcheck.model.broker.ghosts import observed
from elrcheck.model.broker.logs import EpochEnd, fetch_diverges, leader_end_for, settled_after_fetch, truncation_point
from elrcheck.model.broker.replica import epoch_accepted, noted
from elrcheck.model.choices import ResponseRecords
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, LateFetch, LateFetches, Log, Offset, Peer, State, Status, hosts, leads
from elrcheck.model.timeouts import answer_cannot_come


@op
def in_flight(fetch: LateFetch) -> LateFetches:
    """The one late fetch in flight."""
    nothing: LateFetches = ()
    return nothing + (fetch,)  # noqa: RUF005


@op
def none_in_flight(c: Config) -> LateFetches:
    nothing: LateFetches = ()
    return nothing


@op
def read_from(reader: Broker, offset: Offset, reads: bool) -> Log:
    """The record at the offset, if the log has one and the broker reads it now."""
    nothing: Log = ()
    return nothing + (reader.log[offset],) if reads and offset < len(reader.log) else nothing  # noqa: RUF005


@action(message=Message("f", "leader"), fairness=Unfair("a disturbance: other events precede the response"))
def SendLateFetch(c: Config, s: State, f: Replica, leader: Replica) -> State:
    """f fetches; leader accepts the request, records f's log end offset and has not read its log yet.

    ReplicaManager.fetchMessages, up to Partition.updateFollowerFetchState.
    """
    follower_broker = s.broker[f]
    leader_broker = s.broker[leader]
    require(c.late_fetches > 0, "the scope has late fetches")
    require(len(s.fetching) == 0, "no late fetch is in flight")
    require(f != leader, "f is not leader")
    require(follower_broker.status == Status.RUNNING and follower_broker.view.leader == leader, "f follows leader")
    require(hosts(follower_broker), "f can use its replica")
    require(f in follower_broker.view.replicas and f in leader_broker.view.replicas, "f is a replica")
    require(leads(s, leader), "leader leads")
    same_epoch = epoch_accepted(c, follower_broker.view.leader_epoch, leader_broker.view.leader_epoch)
    require(same_epoch, "leader leads in the epoch of f")
    diverging = fetch_diverges(c, leader_broker, follower_broker)
    end = leader_end_for(c, leader_broker, follower_broker)
    peer = Peer(log_end_offset=len(follower_broker.log), broker_epoch=follower_broker.epoch)
    after = leader_broker if diverging else noted(c, s.settings, leader_broker, leader, f, peer)
    sent = LateFetch(
        follower=f,
        leader=leader,
        follower_epoch=follower_broker.epoch,
        leader_broker_epoch=leader_broker.epoch,
        leader_epoch=follower_broker.view.leader_epoch,
        offset=len(follower_broker.log),
        high_watermark=after.high_watermark,
        diverging=diverging,
        end_epoch=end.epoch if diverging else 0,
        end_offset=end.offset if diverging else 0,
        answered=diverging or c.response_records == ResponseRecords.ADMITTED,
        records=read_from(
            leader_broker, len(follower_broker.log), c.response_records == ResponseRecords.ADMITTED and not diverging
        ),
    )
    begun = replace(
        s,
        broker=put(s.broker, leader, after),
        fetching=in_flight(sent),
        spent=replace(s.spent, late_fetches=s.spent.late_fetches + 1),
    )
    return observed(c, s, begun, leader)


@action(fairness=Fair("the leader handles a fetch that takes several steps: fetch receive"))
def ReadForLateFetch(c: Config, s: State) -> State:
    """The broker that received the late fetch reads its log; it may no longer be the leader (readFromLog)."""
    require(c.response_records != ResponseRecords.ADMITTED, "a response is read when it is sent")
    require(len(s.fetching) > 0, "a late fetch is in flight")
    fetch = s.fetching[0]
    reader = s.broker[fetch.leader]
    require(not fetch.answered, "the leader has not read its log yet")
    still_runs = reader.status == Status.RUNNING and reader.epoch == fetch.leader_broker_epoch and hosts(reader)
    require(still_runs, "the process that received the fetch still runs")
    read = read_from(reader, fetch.offset, True)
    return replace(s, fetching=in_flight(replace(fetch, answered=True, records=read)))


@op
def usable(c: Config, follower: Broker, fetch: LateFetch) -> bool:
    """The follower passes the checks of AbstractFetcherThread.processFetchRequest: its log and its leader are those of
    the moment at which it sent the fetch.
    """
    return (
        follower.status == Status.RUNNING
        and hosts(follower)
        and follower.epoch == fetch.follower_epoch
        and len(follower.log) == fetch.offset
        and (follower.view.leader == fetch.leader or not c.response_checks_leader)
        and (follower.view.leader_epoch == fetch.leader_epoch or not c.response_checks_epoch)
    )


@op
def cut_by(c: Config, follower: Broker, fetch: LateFetch) -> Broker:
    """The follower after a response with a divergence."""
    return cut(c, follower, truncation_point(follower, EpochEnd(epoch=fetch.end_epoch, offset=fetch.end_offset)))


@op
def grown_by(c: Config, follower: Broker, fetch: LateFetch) -> Broker:
    """The follower after a response with records, which it may reject for their epoch (KAFKA-18723)."""
    not_later = all(e.epoch <= fetch.leader_epoch for e in fetch.records) or not c.response_checks_records
    rises = (
        all(e.epoch >= last_epoch(follower.log) for e in fetch.records)
        or c.response_records != ResponseRecords.IN_ORDER
    )
    fits = not_later and rises
    longer = grown(c, follower, fetch.records[0]) if fits and len(fetch.records) > 0 else follower
    return replace(
        longer,
        high_watermark=min(fetch.high_watermark, len(longer.log)),
        settled=settled_after_fetch(c, follower, len(longer.log) > len(follower.log)),
    )


@op
def answered_by(c: Config, follower: Broker, fetch: LateFetch) -> Broker:
    """The follower after the response, which it drops if its state has changed (KAFKA-13207, KAFKA-18991)."""
    if not usable(c, follower, fetch):
        return follower
    return cut_by(c, follower, fetch) if fetch.diverging else grown_by(c, follower, fetch)


@action(fairness=Fair("the leader's response arrives: fetch reply"))
def LateFetchReturns(c: Config, s: State) -> State:
    """The response of the late fetch arrives (AbstractFetcherThread.processFetchRequest)."""
    require(len(s.fetching) > 0, "a late fetch is in flight")
    fetch = s.fetching[0]
    require(fetch.answered, "the leader has read its log")
    after = answered_by(c, s.broker[fetch.follower], fetch)
    return replace(s, broker=put(s.broker, fetch.follower, after), fetching=none_in_flight(c))


@action(fairness=Fair("a request without a response times out; added", when=answer_cannot_come))
def LoseLateFetch(c: Config, s: State) -> State:
    """The late fetch or its response is lost (AbstractFetcherThread fetches again)."""
    require(len(s.fetching) > 0, "a late fetch is in flight")
    return replace(s, fetching=none_in_flight(c))
