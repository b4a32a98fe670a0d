"""Properties P-25, P-27 and P-35: acknowledgements, ISR expansions, and the advance of the watermark."""

from __future__ import annotations

from elrcheck.invariants.properties import holds_at, still_leads
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.broker.acknowledgement import ProduceAnswer, answer_after, waits
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Acks, Epoch, Offset, Stage, State, leads


@op
def acked_now(c: Config, s: State, t: State, b: Replica, k: Offset) -> bool:
    """In this step leader b acknowledges the acks=all record at offset k to its waiting producer."""
    waited = waits(s.broker[b], b, k) or len(s.broker[b].log) <= k
    entry = t.broker[b].log[k]
    written = entry.acks == Acks.ALL and entry.epoch == t.broker[b].view.leader_epoch
    acknowledged = answer_after(c, t.settings, t.broker[b], b, k) == ProduceAnswer.NONE
    return waited and written and acknowledged


@op
def replaced_since(s: State, leader: Replica, b: Replica) -> bool:
    """The incarnation of b that fetched from the leader no longer runs."""
    heard = s.broker[leader].peers[b].broker_epoch
    return heard > 0 and heard != s.broker[b].epoch


@op
def removed_since(c: Config, s: State, leader: Replica, b: Replica) -> bool:
    """A reassignment may have removed b's replica, and perhaps added it again, before the leader has read this.

    The removal of a replica removes it from ISR and ELR and bumps the leader epoch; b has read a record of that epoch.
    """
    return (
        c.reassignments > 0
        and s.broker[leader].view.leader_epoch < s.broker[b].view.leader_epoch
        and b not in s.partition.isr | s.partition.elr
    )


@op
def stored_by(c: Config, s: State, leader: Replica, k: Offset) -> RSet:
    """ISR members that have the leader's record at offset k, or have fetched past it and lost it since:

    by losing data, or because a reassignment removed their replica and perhaps added it again. The leader cannot know
    this yet. A member that has never fetched the record does not count.
    """
    return frozenset(
        b
        for b in maximal_isr(s.broker[leader])
        if holds_at(s.broker[b].log, s.broker[leader].log, k)
        or (
            b != leader
            and fetched_past(s, leader, b, k)
            and (
                b in s.lossy
                or b not in s.broker[b].view.replicas
                or removed_since(c, s, leader, b)
                or replaced_since(s, leader, b)
            )
        )
    )


@op
def fetched_past(s: State, leader: Replica, b: Replica, k: Offset) -> bool:
    """A fetch of b showed the leader that b has the record at offset k."""
    end = s.broker[leader].peers[b].log_end_offset
    return end is not None and end > k


@op
def enough_copies(c: Config, s: State, leader: Replica, k: Offset) -> bool:
    return len(stored_by(c, s, leader, k)) >= leader_min_isr(c, s.settings, s.broker[leader], leader)


@always("P-25")
def AckDurability(c: Config, s: State, t: State) -> bool:
    """When an acks=all write is acknowledged, min ISR replicas have stored the record."""
    return conj(
        min_isr_copies=all(
            implies(
                still_leads(s, t, b) and c.strict_hwm,
                all(implies(acked_now(c, s, t, b, k), enough_copies(c, t, b, k)) for k in range(len(t.broker[b].log))),
            )
            for b in c.brokers
        )
    )


@op
def joined(s: State, t: State) -> RSet:
    """Brokers that the step adds to the ISR while the leader stays the same."""
    stays = s.partition.leader is not None and s.partition.leader == t.partition.leader
    return t.partition.isr - s.partition.isr if stays else EMPTY


@op
def proven_epoch(s: State, b: Replica) -> Epoch:
    """The broker epoch of b in the request of the current leader; 0 if it has none."""
    leader = s.partition.leader
    return s.broker[leader].alter.member_epochs[b] if leader is not None else 0


@always("P-27")
def ExpansionProof(c: Config, s: State, t: State) -> bool:
    """A broker that joins the ISR has caught up, in the incarnation whose fetch proved it (KIP-903)."""
    return conj(
        complete=all(is_prefix(s.committed, s.broker[b].log) for b in joined(s, t) - s.lossy),
        same_incarnation=all(proven_epoch(s, b) == s.registration[b].epoch for b in joined(s, t)),
    )


@op
def acknowledged_by_all(c: Config, s: State, leader: Replica, k: Offset) -> bool:
    """Every member of the leader's ISR, including proposed ones, has fetched past record k."""
    broker = s.broker[leader]
    proposed = broker.alter.isr if broker.alter.stage != Stage.IDLE else EMPTY
    return all(b == leader or fetched_past(s, leader, b, k) for b in broker.view.isr | proposed)


@op
def watermark_input_changes(s: State, t: State, leader: Replica) -> bool:
    """The step changes an input of the leader's watermark: its log, its follower state or its ISR."""
    before = s.broker[leader]
    after = t.broker[leader]
    return before.log != after.log or before.peers != after.peers or before.view != after.view


@always("P-35")
def WatermarkNotHeldBack(c: Config, s: State, t: State) -> bool:
    """With min ISR members a leader's watermark covers what its ISR has, whoever else is behind or down.

    The property has its own definitions: it shares no operator with the rule that advances the watermark.
    """
    return conj(
        covers_what_the_isr_has=all(
            implies(
                leads(t, b)
                and watermark_input_changes(s, t, b)
                and len(t.broker[b].view.isr) >= leader_min_isr(c, t.settings, t.broker[b], b),
                all(
                    implies(acknowledged_by_all(c, t, b, k), t.broker[b].high_watermark > k)
                    for k in range(len(t.broker[b].log))
                ),
            )
            for b in c.brokers
        )
    )
