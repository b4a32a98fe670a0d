"""Brokers as leader and follower: produce, fetch, the high watermark, truncation.

Sources: Partition and Replica (core), ReplicaManager, AbstractFetcherThread; KIP-966 for the strict min-ISR rule,
KIP-320 for the epochs in a fetch. `logs` compares logs, `acknowledgement` has the responses to producers, `metadata`
the transition to leader or follower, `isr_proposals` the ISR changes of a leader.

Abstractions, each an over-approximation unless stated otherwise:
* A fetch is one atomic exchange whose response may be lost. A delayed response of the same leader epoch equals an
  earlier exchange; the follower drops one of another epoch (KAFKA-18991). Both require the correct rules: `late_fetch`
  splits a fetch into steps, for scopes with late fetches.
* A fetch returns at most one record; several are several fetches.
* The leader may propose any follower whose fetch qualifies, alive or not, and the controller decides.
* The leader recomputes its watermark at once wherever Kafka tries to (it is monotonic), not in a separate step. Not
  modelled: the watermark also waits for a caught-up replica outside the ISR.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, op, put, require
from elrcheck.model.alternatives.shadow_isr import serves
from elrcheck.model.broker.acknowledgement import ProduceAnswer, produce_error
from elrcheck.model.broker.epoch_cache import cut, grown
from elrcheck.model.broker.ghosts import observed
from elrcheck.model.broker.high_watermark import with_high_watermark
from elrcheck.model.broker.logs import cut_at, fetch_diverges, settled_after_cut, settled_after_fetch
from elrcheck.model.choices import FetchFencing
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Acks, Broker, Entry, Epoch, Peer, Settings, State, acts, hosts, leads


@op
def appended(c: Config, settings: Settings, leader: Broker, leader_id: Replica, entry: Entry) -> Broker:
    """The leader with the record at the end of its log (Partition.appendRecordsToLeader)."""
    grown = replace(leader, log=leader.log + (entry,))  # noqa: RUF005
    return with_high_watermark(c, settings, grown, leader_id)


@action(fairness=Unfair("producers need not write"))
def Produce(c: Config, s: State, leader: Replica, acks: Acks) -> State:
    """A leader appends a producer's record (Partition.appendRecordsToLeader).

    It may be a zombie: a leader that has not read yet that another one was elected.
    """
    leader_broker = s.broker[leader]
    require(len(leader_broker.log) < c.log_slots, "the log has room")
    require(serves(c, s, leader), "leader serves")
    require(acks != Acks.ZERO or c.acks_zero > 0, "the scope has writes with acks=0")
    require(leader_broker.early == 0, "leader processes requests")
    answer = produce_error(c, s.settings, leader_broker, leader, acks)
    require(answer != ProduceAnswer.NOT_LEADER_OR_FOLLOWER, "leader leads in its own view")
    require(answer != ProduceAnswer.NOT_ENOUGH_REPLICAS, "for acks=all the ISR has min ISR members")
    entry = Entry(id=s.spent.records + 1, epoch=leader_broker.view.leader_epoch, acks=acks)
    advanced = appended(c, s.settings, leader_broker, leader, entry)
    written = replace(
        s,
        broker=put(s.broker, leader, advanced),
        spent=replace(
            s.spent,
            records=s.spent.records + 1,
            acks_one=s.spent.acks_one + 1 if acks == Acks.ONE else s.spent.acks_one,
            acks_zero=s.spent.acks_zero + 1 if acks == Acks.ZERO else s.spent.acks_zero,
        ),
    )
    return observed(c, s, written, leader)


@op
def epoch_accepted(c: Config, request: Epoch, own: Epoch) -> bool:
    """The leader accepts a fetch: no FENCED_LEADER_EPOCH, no UNKNOWN_LEADER_EPOCH (KIP-320)."""
    lower = c.fetch_fencing == FetchFencing.BOTH or c.fetch_fencing == FetchFencing.ONLY_LOWER
    higher = c.fetch_fencing == FetchFencing.BOTH or c.fetch_fencing == FetchFencing.ONLY_HIGHER
    return (request >= own or not lower) and (request <= own or not higher)


@op
def awaits_answer(s: State, f: Replica) -> bool:
    """A late fetch of f is in flight: its fetcher sends no other in this leader epoch before the response."""
    follower = s.broker[f]
    return any(
        fetch.follower == f
        and fetch.follower_epoch == follower.epoch
        and fetch.leader_epoch == follower.view.leader_epoch
        for fetch in s.fetching
    )


@op
def noted(c: Config, settings: Settings, leader: Broker, leader_id: Replica, f: Replica, peer: Peer) -> Broker:
    """Partition.updateFollowerFetchState: the leader updates the follower state and tries to advance its watermark."""
    return with_high_watermark(c, settings, replace(leader, peers=put(leader.peers, f, peer)), leader_id)


@op
def truncated(c: Config, leader: Broker, follower: Broker) -> Broker:
    """The follower after a response with a divergence (truncateOnFetchResponse)."""
    return replace(cut(c, follower, cut_at(c, leader, follower)), settled=settled_after_cut(c))


@op
def fetched(c: Config, leader: Broker, follower: Broker) -> Broker:
    """The follower after a response with the next record, or an empty one (processPartitionData)."""
    offset = len(follower.log)
    longer = grown(c, follower, leader.log[offset]) if offset < len(leader.log) else follower
    return replace(
        longer,
        high_watermark=min(leader.high_watermark, len(longer.log)),
        settled=settled_after_fetch(c, follower, len(longer.log) > offset),
    )


@action(
    message=Message("f", "leader", lost="lost"),
    fairness=Fair("a follower fetches: fetch send, receive and reply", only={"lost": False}),
)
def Fetch(c: Config, s: State, f: Replica, leader: Replica, lost: bool) -> State:
    """Follower f fetches from leader; `lost`: the response never arrives, but leader has updated the follower state.

    ReplicaManager.fetchMessages, AbstractFetcherThread. Both must be in the same leader epoch (KIP-320); otherwise the
    leader responds with FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH, which has no effect. After a diverging fetch f
    truncates, and leader does not update the follower state (KIP-595, KAFKA-13141).
    """
    follower_broker = s.broker[f]
    leader_broker = s.broker[leader]
    require(f != leader, "f is not leader")
    require(acts(follower_broker) and follower_broker.view.leader == leader, "f follows leader")
    require(hosts(follower_broker), "f can use its replica")
    require(not awaits_answer(s, f), "f does not wait for a response in this epoch")
    require(f in follower_broker.view.replicas and f in leader_broker.view.replicas, "f is a replica")
    require(leads(s, leader) and serves(c, s, leader), "leader leads")
    same_epoch = epoch_accepted(c, follower_broker.view.leader_epoch, leader_broker.view.leader_epoch)
    require(same_epoch, "leader leads in the epoch of f")
    diverging = fetch_diverges(c, leader_broker, follower_broker)
    require(not lost or (c.fetch_loss and not diverging), "losing the response makes a difference")
    peer = Peer(log_end_offset=len(follower_broker.log), broker_epoch=follower_broker.epoch)
    informed = noted(c, s.settings, leader_broker, leader, f, peer)
    if diverging:
        after_fetch = leader_broker if c.ignores_failed_fetches else informed
        cut = truncated(c, leader_broker, follower_broker)
        return observed(c, s, replace(s, broker=put(put(s.broker, leader, after_fetch), f, cut)), leader)
    after = follower_broker if lost else fetched(c, informed, follower_broker)
    return observed(c, s, replace(s, broker=put(put(s.broker, leader, informed), f, after)), leader)
