"""Brokers as leader and follower: produce, fetch, the high watermark, truncation.

Sources: Partition and Replica (core), ReplicaManager, AbstractFetcherThread, UnifiedLog,
LeaderEpochFileCache; KIP-966 for the strict min-ISR rule, KIP-101, KIP-279 and KIP-320 for
truncation. Metadata and proposals of a leader are in `metadata` and `isr_proposals`.

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

from elrcheck.lang.runtime import action, op, put, record, require
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.config import AcksAdmission, Config, HwmGate
from elrcheck.model.state import (
    Acks,
    Broker,
    Entry,
    Epoch,
    Log,
    Offset,
    Peer,
    Settings,
    Stage,
    State,
    Status,
    leader_min_isr,
    leads,
)

# ---------------------------------------------------------------------------- rules of a leader


@op
def maximal_isr(me: Broker) -> RSet:
    """Committed ISR and every proposed member: whoever the controller may already count on."""
    return me.view.isr | me.alter.isr if me.alter.stage != Stage.IDLE else me.view.isr


@op
def may_advance(c: Config, g: Settings, me: Broker, leader: Replica) -> bool:
    """The strict min-ISR rule (KIP-966, KAFKA-15583): the committed ISR has min ISR members."""
    if not c.strict_hwm:
        return True
    counted = me.view.isr if c.hwm_gate == HwmGate.COMMITTED else maximal_isr(me)
    return len(counted) >= leader_min_isr(c, g, me, leader)


@op
def known_end(me: Broker, leader: Replica, b: Replica) -> Offset:
    """What leader leader knows of b's log end; a follower not heard of counts as empty."""
    if b == leader:
        return len(me.log)
    end = me.peers[b].log_end_offset
    return end if end is not None else 0


@op
def with_high_watermark(c: Config, g: Settings, me: Broker, leader: Replica) -> Broker:
    """Partition.maybeIncrementLeaderHW: the least log end of the maximal ISR, never backwards."""
    quorum = maximal_isr(me) if c.maximal_isr else me.view.isr
    least = min((known_end(me, leader, b) for b in quorum), default=0)
    if not may_advance(c, g, me, leader) or least <= me.high_watermark:
        return me
    return replace(me, high_watermark=least)


@op
def with_committed(committed: Log, me: Broker) -> Log:
    """Ghost: what lies below the highest watermark ever reached by a leader."""
    return me.log[: me.high_watermark] if me.high_watermark > len(committed) else committed


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


# ---------------------------------------------------------------------------- produce and fetch


@action
def Produce(c: Config, s: State, leader: Replica, acks: Acks) -> State:
    """A producer's record is appended by leader, which may be a leader that was replaced long ago."""
    me = s.broker[leader]
    require(leads(s, leader), "leader leads by its own view")
    require(len(me.log) < c.log_slots, "the log has room")
    admitting = me.view.isr if c.acks_admission == AcksAdmission.COMMITTED else maximal_isr(me)
    enough = len(admitting) >= leader_min_isr(c, s.settings, me, leader)
    require(acks == Acks.ONE or enough, "acks=all finds min ISR members")
    entry = Entry(id=s.spent.records + 1, epoch=me.view.leader_epoch, acks=acks)
    appended = replace(me, log=me.log + (entry,))  # noqa: RUF005
    advanced = with_high_watermark(c, s.settings, appended, leader)
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
    require(f in me.view.replicas and f in you.view.replicas, "f is a replica")
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
    advanced = with_high_watermark(c, s.settings, noted, leader)
    grown = me.log + (you.log[offset],) if offset < len(you.log) else me.log  # noqa: RUF005
    fetched = replace(me, log=grown, high_watermark=min(advanced.high_watermark, len(grown)))
    return replace(
        s,
        broker=put(put(s.broker, leader, advanced), f, me if lost else fetched),
        committed=with_committed(s.committed, advanced),
    )
