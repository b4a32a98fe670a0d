"""Committing records: the maximal ISR and the high watermark of a leader.

Sources: Partition (core), maybeIncrementLeaderHW and PartitionState; KIP-966 and KAFKA-15583 for the strict min-ISR
rule. The watermark of a leader never goes back.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.choices import HwmGate
from elrcheck.model.config import Config
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Broker, Offset, Settings, Stage


@op
def maximal_isr(leader: Broker) -> RSet:
    """PartitionState.maximalIsr: the committed ISR and proposed members, which may already be in the ISR.

    Before the registration of a process, a request in flight is from the previous process.
    """
    pending = leader.alter.stage != Stage.IDLE and leader.alter.overtaken == 0 and leader.early == 0
    return leader.view.isr | leader.alter.isr if pending else leader.view.isr


@op
def may_advance(c: Config, settings: Settings, leader: Broker, leader_id: Replica) -> bool:
    """The strict min-ISR rule (KIP-966, KAFKA-15583): the committed ISR has min ISR members."""
    if not c.strict_hwm:
        return True
    counted = leader.view.isr if c.hwm_gate == HwmGate.COMMITTED else maximal_isr(leader)
    return len(counted) >= leader_min_isr(c, settings, leader, leader_id)


@op
def known_end(leader: Broker, leader_id: Replica, b: Replica) -> Offset:
    """The log end offset of b at the leader; 0 for a follower without a fetch."""
    if b == leader_id:
        return len(leader.log)
    end = leader.peers[b].log_end_offset
    return end if end is not None else 0


@op
def heard_of(leader: Broker, leader_id: Replica, b: Replica) -> bool:
    """The leader has received a fetch of b in this leader epoch."""
    return b == leader_id or leader.peers[b].log_end_offset is not None


@op
def with_high_watermark(c: Config, settings: Settings, leader: Broker, leader_id: Replica) -> Broker:
    """Partition.maybeIncrementLeaderHW: the smallest log end offset of the maximal ISR, if it is ahead."""
    quorum = maximal_isr(leader) if c.maximal_isr else leader.view.isr
    heard = frozenset(b for b in quorum if heard_of(leader, leader_id, b))
    counted = quorum if c.waits_for_unknown else heard
    least = min((known_end(leader, leader_id, b) for b in counted), default=0)
    if not may_advance(c, settings, leader, leader_id) or least <= leader.high_watermark:
        return leader
    return replace(leader, high_watermark=least)
