"""Properties P-25 and P-27: the guarantees of an acknowledgement and of an ISR expansion."""

from __future__ import annotations

from elrcheck.invariants.properties import holds_at, still_leads
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.broker.acknowledgement import ProduceAnswer, answer_after, waits
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.config import Config
from elrcheck.model.state import Acks, Epoch, Offset, State, is_prefix, leader_min_isr


@op
def acked_now(c: Config, s: State, t: State, b: Replica, k: Offset) -> bool:
    """In this step leader b acknowledges the acks=all record at offset k to its waiting producer."""
    waited = waits(s.broker[b], b, k) or len(s.broker[b].log) <= k
    entry = t.broker[b].log[k]
    written = entry.acks == Acks.ALL and entry.epoch == t.broker[b].view.leader_epoch
    answered = answer_after(c, t.settings, t.broker[b], b, k) == ProduceAnswer.NONE
    return waited and written and answered


@op
def replaced_since(s: State, leader: Replica, b: Replica) -> bool:
    """The incarnation of b that fetched from the leader no longer runs."""
    heard = s.broker[leader].peers[b].broker_epoch
    return heard > 0 and heard != s.broker[b].epoch


@op
def stored_by(s: State, leader: Replica, k: Offset) -> RSet:
    """Brokers that hold the leader's record at offset k, or lost it in a way the leader cannot know yet:

    by losing data, or because a reassignment removed their replica and perhaps added it again.
    """
    return frozenset(
        b
        for b in maximal_isr(s.broker[leader])
        if holds_at(s.broker[b].log, s.broker[leader].log, k)
        or b in s.lossy
        or b not in s.broker[b].view.replicas
        or b not in frozenset(s.partition.replicas) - s.partition.adding
        or (b != leader and replaced_since(s, leader, b))
    )


@op
def enough_copies(c: Config, s: State, leader: Replica, k: Offset) -> bool:
    return len(stored_by(s, leader, k)) >= leader_min_isr(c, s.settings, s.broker[leader], leader)


@always("P-25")
def AckDurability(c: Config, s: State, t: State) -> bool:
    """When an acks=all write is acknowledged, min ISR replicas have stored the record."""
    return conj(
        min_isr_copies=all(
            implies(
                still_leads(s, t, b) and c.strict_hwm,
                all(
                    implies(acked_now(c, s, t, b, k), enough_copies(c, t, b, k))
                    for k in range(len(t.broker[b].log))
                ),
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
    """A broker that joins the ISR has caught up, as the incarnation whose fetch proved it (KIP-903)."""
    return conj(
        complete=all(is_prefix(s.committed, s.broker[b].log) for b in joined(s, t) - s.lossy),
        same_incarnation=all(proven_epoch(s, b) == s.registration[b].epoch for b in joined(s, t)),
    )
