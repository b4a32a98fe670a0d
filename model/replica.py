"""Brokers as leader and follower: metadata, produce, fetch, the high watermark, AlterPartition.

Sources: Partition and Replica (core), ReplicaManager, AbstractFetcherThread, UnifiedLog,
LeaderEpochFileCache; KIP-966 for the strict min-ISR rule, KIP-101, KIP-279 and KIP-320 for
truncation.

Abstractions, each an over-approximation unless said otherwise:
* A fetch is one atomic exchange whose answer may be lost. A delayed answer of the same leader epoch
  equals an earlier exchange; one of another epoch is dropped by the follower (KAFKA-18991).
* One record for each fetch; several are several fetches.
* The leader's opinion that a joiner is alive is left open: it may propose any follower whose fetch
  qualifies, and the controller decides.
* The watermark is recomputed at once wherever the code tries to (it is monotone), not in a step of
  its own. The rule that it also waits for a caught-up replica outside the ISR is not modelled.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, action, op, put, record, require
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.config import AcksAdmission, AlterReject, Config, HwmGate
from elrcheck.model.state import (
    Acks,
    Broker,
    Entry,
    Epoch,
    Error,
    Exchange,
    Log,
    Offset,
    Peer,
    ReplicaList,
    Stage,
    State,
    Status,
    View,
    effective_min_isr,
    leads,
    no_exchange,
    no_peers,
)

# ---------------------------------------------------------------------------- rules of a leader


@op
def maximal_isr(me: Broker) -> RSet:
    """Committed ISR and every proposed member: whoever the controller may already count on."""
    return me.view.isr | me.alter.isr if me.alter.stage != Stage.IDLE else me.view.isr


@op
def may_advance(c: Config, me: Broker, replicas: ReplicaList) -> bool:
    """The strict min-ISR rule (KIP-966, KAFKA-15583): the committed ISR has min ISR members."""
    if not c.strict_hwm:
        return True
    counted = me.view.isr if c.hwm_gate == HwmGate.COMMITTED else maximal_isr(me)
    return len(counted) >= effective_min_isr(c, replicas)


@op
def known_end(me: Broker, leader: Replica, b: Replica) -> Offset:
    """What leader leader knows of b's log end; a follower not heard of counts as empty."""
    if b == leader:
        return len(me.log)
    end = me.peers[b].log_end_offset
    return end if end is not None else 0


@op
def with_high_watermark(c: Config, me: Broker, leader: Replica, replicas: ReplicaList) -> Broker:
    """Partition.maybeIncrementLeaderHW: the least log end of the maximal ISR, never backwards."""
    quorum = maximal_isr(me) if c.maximal_isr else me.view.isr
    least = min((known_end(me, leader, b) for b in quorum), default=0)
    if not may_advance(c, me, replicas) or least <= me.high_watermark:
        return me
    return replace(me, high_watermark=least)


@op
def with_committed(committed: Log, me: Broker) -> Log:
    """Ghost: what lies below the highest watermark ever reached by a leader."""
    return me.log[: me.high_watermark] if me.high_watermark > len(committed) else committed


@op
def may_join(c: Config, me: Broker, f: Replica) -> bool:
    """Partition.isFollowerInSync for an expansion: HW reached and the leader's epoch start (KAFKA-7128)."""
    end = me.peers[f].log_end_offset
    return (
        end is not None
        and end >= me.high_watermark
        and (end >= me.epoch_start or not c.join_requires_epoch_start)
    )


@op
def proposal(c: Config, me: Broker, leader: Replica, isr: RSet) -> Exchange:
    """A new AlterPartition request, with the broker epoch of every member the leader knows (KIP-903)."""
    return Exchange(
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=me.view.leader_epoch,
        partition_epoch=me.view.partition_epoch,
        isr=isr,
        member_epochs=tuple(
            (me.epoch if b == leader else me.peers[b].broker_epoch) if b in isr else 0 for b in c.brokers
        ),
    )


# ---------------------------------------------------------------------------- rules of logs


@record
class EpochEnd:
    """The answer of OffsetsForLeaderEpoch: an epoch and the offset behind its last record."""

    epoch: Epoch
    offset: Offset


@op
def last_epoch(log: Log) -> Epoch:
    """Leader epoch of the last record, 0 for an empty log."""
    return log[len(log) - 1].epoch if len(log) > 0 else 0


@op
def end_offset_for(log: Log, own_epoch: Epoch, epoch: Epoch) -> EpochEnd:
    """LeaderEpochFileCache.endOffsetFor: the greatest known epoch not above `epoch`, and its end.

    own_epoch: the epoch a leader cached when it took over (KAFKA-7415), 0 for a follower.
    """
    floor = max((e.epoch for e in log if e.epoch <= epoch), default=0)
    return EpochEnd(
        epoch=epoch if epoch == own_epoch else floor,
        offset=sum(1 for e in log if e.epoch <= epoch),
    )


@op
def diverges(leader_end: EpochEnd, last_fetched: Epoch, fetch_offset: Offset) -> bool:
    """The leader's divergence test in a fetch (KIP-595)."""
    return leader_end.epoch < last_fetched or leader_end.offset < fetch_offset


@op
def truncation_point(log: Log, leader_end: EpochEnd) -> Offset:
    """AbstractFetcherThread.getOffsetTruncationState: where a diverging follower cuts its log."""
    mine = end_offset_for(log, 0, leader_end.epoch)
    return min(mine.offset, leader_end.offset) if mine.epoch == leader_end.epoch else mine.offset


# ---------------------------------------------------------------------------- metadata


@op
def kept_peers(c: Config, me: Broker, b: Replica, isr: RSet, same_epoch: bool) -> Vec[Peer]:
    """Partition.makeLeader: what a leader still knows of its followers after new metadata.

    In the same epoch everything; re-elected without stepping down, the ISR members; else nothing.
    """
    return tuple(
        me.peers[f]
        if f != b and me.view.leader == b and (same_epoch or f in isr)
        else Peer(log_end_offset=None, broker_epoch=0)
        for f in c.brokers
    )


@action
def ApplyMetadata(c: Config, s: State, b: Replica) -> State:
    """b applies the newest partition record (a batch collapses to its final state).

    makeLeader or makeFollower; any pending proposal is dropped.
    """
    me = s.broker[b]
    p = s.partition
    require(me.status == Status.RUNNING, "b is running")
    require(me.view.partition_epoch < p.partition_epoch, "there is newer metadata")
    same_epoch = me.view.leader_epoch == p.leader_epoch
    view = View(
        leader=p.leader,
        leader_epoch=p.leader_epoch,
        partition_epoch=p.partition_epoch,
        isr=p.isr if p.leader == b else EMPTY,
    )
    if p.leader == b:
        leading = replace(
            me,
            view=view,
            epoch_start=me.epoch_start if same_epoch else len(me.log),
            peers=kept_peers(c, me, b, p.isr, same_epoch),
            alter=no_exchange(c),
        )
        advanced = with_high_watermark(c, leading, b, p.replicas)
        return replace(s, broker=put(s.broker, b, advanced), committed=with_committed(s.committed, advanced))
    following = replace(me, view=view, epoch_start=0, peers=no_peers(c), alter=no_exchange(c))
    return replace(s, broker=put(s.broker, b, following))


# ---------------------------------------------------------------------------- produce and fetch


@action
def Produce(c: Config, s: State, leader: Replica, acks: Acks) -> State:
    """A producer's record is appended by leader, which may be a leader that was replaced long ago."""
    me = s.broker[leader]
    require(leads(s, leader), "leader leads by its own view")
    require(len(me.log) < c.log_slots, "the log has room")
    admitting = me.view.isr if c.acks_admission == AcksAdmission.COMMITTED else maximal_isr(me)
    enough = len(admitting) >= effective_min_isr(c, s.partition.replicas)
    require(acks == Acks.ONE or enough, "acks=all finds min ISR members")
    entry = Entry(id=s.spent.records + 1, epoch=me.view.leader_epoch, acks=acks)
    appended = replace(me, log=me.log + (entry,))  # noqa: RUF005
    advanced = with_high_watermark(c, appended, leader, s.partition.replicas)
    one = s.spent.acks_one + 1 if acks == Acks.ONE else s.spent.acks_one
    return replace(
        s,
        broker=put(s.broker, leader, advanced),
        committed=with_committed(s.committed, advanced),
        spent=replace(s.spent, records=s.spent.records + 1, acks_one=one),
    )


@action
def Fetch(c: Config, s: State, f: Replica, leader: Replica, lost: bool) -> State:
    """Follower f fetches from leader; `lost`: the answer never arrives, but leader has noted the fetch.

    Both must be in the same leader epoch, else leader answers FENCED_ or UNKNOWN_LEADER_EPOCH and nothing
    happens. A diverging fetch makes f truncate and tells leader nothing (KAFKA-13141).
    """
    me = s.broker[f]
    you = s.broker[leader]
    require(f != leader, "f is not l")
    require(me.status == Status.RUNNING and me.view.leader == leader, "f follows l")
    require(leads(s, leader) and me.view.leader_epoch == you.view.leader_epoch, "l leads in the epoch of f")
    offset = len(me.log)
    end = end_offset_for(you.log, you.view.leader_epoch, last_epoch(me.log))
    diverging = offset > 0 and diverges(end, last_epoch(me.log), offset)
    require(not lost or (c.fetch_loss and not diverging), "a lost answer changes something")
    if diverging:
        keep = truncation_point(me.log, end)
        cut = replace(me, log=me.log[:keep], high_watermark=min(me.high_watermark, keep))
        return replace(s, broker=put(s.broker, f, cut))
    noted = replace(you, peers=put(you.peers, f, Peer(log_end_offset=offset, broker_epoch=me.epoch)))
    advanced = with_high_watermark(c, noted, leader, s.partition.replicas)
    grown = me.log + (you.log[offset],) if offset < len(you.log) else me.log  # noqa: RUF005
    fetched = replace(me, log=grown, high_watermark=min(advanced.high_watermark, len(grown)))
    return replace(
        s,
        broker=put(put(s.broker, leader, advanced), f, me if lost else fetched),
        committed=with_committed(s.committed, advanced),
    )


# ---------------------------------------------------------------------------- AlterPartition at the leader


@action
def ExpandIsr(c: Config, s: State, leader: Replica, f: Replica) -> State:
    """l proposes to add follower f (Partition.maybeExpandIsr); one follower for each proposal."""
    me = s.broker[leader]
    require(leads(s, leader) and me.alter.stage == Stage.IDLE, "l leads and has nothing in flight")
    require(f != leader and f not in me.view.isr, "f is outside the ISR")
    require(may_join(c, me, f), "f has caught up")
    return replace(
        s, broker=put(s.broker, leader, replace(me, alter=proposal(c, me, leader, me.view.isr | {f})))
    )


@action
def ShrinkIsr(c: Config, s: State, leader: Replica, out: RSet) -> State:
    """l proposes to drop lagging followers (Partition.maybeShrinkIsr); time decides which, so any may go."""
    me = s.broker[leader]
    require(leads(s, leader) and me.alter.stage == Stage.IDLE, "l leads and has nothing in flight")
    require(leader not in out and out != EMPTY and out <= me.view.isr, "out are followers in the ISR")
    require(all(known_end(me, leader, b) < len(me.log) for b in out), "out lag behind")
    return replace(
        s,
        broker=put(s.broker, leader, replace(me, alter=proposal(c, me, leader, me.view.isr - out))),
        spent=replace(s.spent, shrinks=s.spent.shrinks + 1),
    )


@action
def LeaderLearns(c: Config, s: State, leader: Replica) -> State:
    """l handles the answer to its AlterPartition (Partition.submitAlterPartition).

    Success commits the returned ISR. INELIGIBLE_REPLICA proves that nothing was applied, so the
    proposal is dropped. A stale answer proves nothing: the proposal stays pending, and the maximal
    ISR wide, until newer metadata arrives. A stale broker or controller epoch means: send it again.
    """
    me = s.broker[leader]
    x = me.alter
    require(me.status == Status.RUNNING and x.stage == Stage.ANSWERED, "an answer has arrived")
    fits = x.leader_epoch == me.view.leader_epoch and x.partition_epoch >= me.view.partition_epoch
    if x.error == Error.NONE and fits:
        view = replace(me.view, isr=x.isr, partition_epoch=x.partition_epoch)
        settled = with_high_watermark(
            c, replace(me, view=view, alter=no_exchange(c)), leader, s.partition.replicas
        )
        return replace(
            s, broker=put(s.broker, leader, settled), committed=with_committed(s.committed, settled)
        )
    if x.error == Error.STALE_BROKER_EPOCH or x.error == Error.NOT_CONTROLLER:
        return replace(s, broker=put(s.broker, leader, replace(me, alter=sent_again(me))))
    if x.error == Error.INELIGIBLE_REPLICA or (
        c.alter_reject == AlterReject.ROLLBACK and x.error != Error.NONE
    ):
        return replace(s, broker=put(s.broker, leader, replace(me, alter=no_exchange(c))))
    waiting = replace(no_exchange(c), stage=Stage.WAITING, isr=x.isr)
    return replace(s, broker=put(s.broker, leader, replace(me, alter=waiting)))


@op
def sent_again(me: Broker) -> Exchange:
    """The same request once more; the leader's epochs have not moved since, or it would be gone."""
    return replace(
        me.alter,
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=me.view.leader_epoch,
        partition_epoch=me.view.partition_epoch,
    )


@action
def LoseResponse(c: Config, s: State, leader: Replica) -> State:
    """The answer to leader's AlterPartition is lost; leader times out and sends the request again."""
    me = s.broker[leader]
    require(c.response_loss, "responses may be lost")
    require(me.status == Status.RUNNING and me.alter.stage == Stage.ANSWERED, "an answer is on its way")
    return replace(s, broker=put(s.broker, leader, replace(me, alter=sent_again(me))))
