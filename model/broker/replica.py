"""Brokers as leader and follower: produce, fetch, the high watermark, truncation.

Sources: Partition and Replica (core), ReplicaManager, AbstractFetcherThread; KIP-966 for the strict
min-ISR rule, KIP-320 for the epochs in a fetch. How logs are compared is in `logs`, what a producer
is told in `acknowledgement`; metadata and proposals of a leader in `metadata` and `isr_proposals`.

Abstractions, each an over-approximation unless said otherwise:
* A fetch is one atomic exchange whose answer may be lost. A delayed answer of the same leader epoch
  equals an earlier exchange; one of another epoch is dropped by the follower (KAFKA-18991). Both are
  true only of the right rules: `late_fetch` has fetches in steps, for scopes that ask for them.
* One record for each fetch; several are several fetches.
* The leader's opinion that a joiner is alive is left open: it may propose any follower whose fetch
  qualifies, and the controller decides.
* The watermark is recomputed at once wherever the code tries to (it is monotone), not in a step of
  its own. The rule that it also waits for a caught-up replica outside the ISR is not modelled.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.lang.types import Replica
from elrcheck.model.broker.acknowledgement import ProduceAnswer, produce_error
from elrcheck.model.broker.high_watermark import with_committed, with_high_watermark
from elrcheck.model.broker.logs import cut_at, fetch_diverges, settled_after_cut, settled_after_fetch
from elrcheck.model.config import Config, FetchFencing
from elrcheck.model.state import (
    Acks,
    Broker,
    Entry,
    Epoch,
    Peer,
    Settings,
    State,
    Status,
    leads,
    syncing,
)


@action(fairness=Unfair("producers need not write"))
def Produce(c: Config, s: State, leader: Replica, acks: Acks) -> State:
    """A producer's record is appended by leader, which may be a leader that was replaced long ago."""
    me = s.broker[leader]
    require(len(me.log) < c.log_slots, "the log has room")
    require(not syncing(c, s, leader), "leader serves")
    require(acks != Acks.ZERO or c.acks_zero > 0, "the scope has writes with acks=0")
    answer = produce_error(c, s.settings, me, leader, acks)
    require(answer != ProduceAnswer.NOT_LEADER_OR_FOLLOWER, "leader leads by its own view")
    require(answer != ProduceAnswer.NOT_ENOUGH_REPLICAS, "acks=all finds min ISR members")
    entry = Entry(id=s.spent.records + 1, epoch=me.view.leader_epoch, acks=acks)
    appended = replace(me, log=me.log + (entry,))  # noqa: RUF005
    advanced = with_high_watermark(c, s.settings, appended, leader)
    return replace(
        s,
        broker=put(s.broker, leader, advanced),
        committed=with_committed(s.committed, advanced),
        spent=replace(
            s.spent,
            records=s.spent.records + 1,
            acks_one=s.spent.acks_one + 1 if acks == Acks.ONE else s.spent.acks_one,
            acks_zero=s.spent.acks_zero + 1 if acks == Acks.ZERO else s.spent.acks_zero,
        ),
    )


@op
def epoch_accepted(c: Config, request: Epoch, own: Epoch) -> bool:
    """FENCED_LEADER_EPOCH for a lower epoch in a fetch, UNKNOWN_LEADER_EPOCH for a higher one (KIP-320)."""
    lower = c.fetch_fencing == FetchFencing.BOTH or c.fetch_fencing == FetchFencing.ONLY_LOWER
    higher = c.fetch_fencing == FetchFencing.BOTH or c.fetch_fencing == FetchFencing.ONLY_HIGHER
    return (request >= own or not lower) and (request <= own or not higher)


@op
def awaits_answer(s: State, f: Replica) -> bool:
    """A fetch of f is under way: its fetcher sends the next one of this leader epoch after the answer."""
    me = s.broker[f]
    return any(
        x.follower == f and x.follower_epoch == me.epoch and x.leader_epoch == me.view.leader_epoch
        for x in s.fetching
    )


@op
def noted(c: Config, g: Settings, you: Broker, leader: Replica, f: Replica, peer: Peer) -> Broker:
    """Partition.updateFollowerFetchState: leader has seen how far f is, and tries its high watermark."""
    return with_high_watermark(c, g, replace(you, peers=put(you.peers, f, peer)), leader)


@action(
    message=Message("f", "leader", lost="lost"),
    fairness=Fair("a follower fetches: fetch send, receive and reply", only={"lost": False}),
)
def Fetch(c: Config, s: State, f: Replica, leader: Replica, lost: bool) -> State:
    """Follower f fetches from leader; `lost`: the answer never arrives, but leader has noted the fetch.

    Both must be in the same leader epoch, else leader answers FENCED_ or UNKNOWN_LEADER_EPOCH and nothing
    happens. A diverging fetch makes f truncate and tells leader nothing (KAFKA-13141).
    """
    me = s.broker[f]
    you = s.broker[leader]
    require(f != leader, "f is not l")
    require(me.status == Status.RUNNING and me.view.leader == leader, "f follows l")
    require(not awaits_answer(s, f), "f does not wait for an answer in this epoch")
    require(f in me.view.replicas and f in you.view.replicas, "f is a replica")
    require(leads(s, leader) and not syncing(c, s, leader), "l leads")
    require(epoch_accepted(c, me.view.leader_epoch, you.view.leader_epoch), "l leads in the epoch of f")
    offset = len(me.log)
    diverging = fetch_diverges(c, you, me)
    require(not lost or (c.fetch_loss and not diverging), "a lost answer changes something")
    peer = Peer(log_end_offset=offset, broker_epoch=me.epoch)
    if diverging:
        keep = cut_at(c, you, me)
        cut = replace(
            me,
            log=me.log[:keep],
            high_watermark=min(me.high_watermark, keep),
            settled=settled_after_cut(c),
        )
        told = you if c.ignores_failed_fetches else noted(c, s.settings, you, leader, f, peer)
        return replace(
            s,
            broker=put(put(s.broker, leader, told), f, cut),
            committed=with_committed(s.committed, told),
        )
    advanced = noted(c, s.settings, you, leader, f, peer)
    grown = me.log + (you.log[offset],) if offset < len(you.log) else me.log  # noqa: RUF005
    fetched = replace(
        me,
        log=grown,
        high_watermark=min(advanced.high_watermark, len(grown)),
        settled=settled_after_fetch(c, me, len(grown) > offset),
    )
    return replace(
        s,
        broker=put(put(s.broker, leader, advanced), f, me if lost else fetched),
        committed=with_committed(s.committed, advanced),
    )
