"""When records are committed: the maximal ISR and the high watermark of a leader.

Sources: Partition (core), maybeIncrementLeaderHW and PartitionState; KIP-966 and KAFKA-15583 for the
strict min-ISR rule. The watermark of a leader never moves backwards.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.config import Config, HwmGate
from elrcheck.model.state import Broker, Log, Offset, Settings, Stage, leader_min_isr


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
def heard_of(me: Broker, leader: Replica, b: Replica) -> bool:
    return b == leader or me.peers[b].log_end_offset is not None


@op
def with_high_watermark(c: Config, g: Settings, me: Broker, leader: Replica) -> Broker:
    """Partition.maybeIncrementLeaderHW: the least log end of the maximal ISR, never backwards."""
    quorum = maximal_isr(me) if c.maximal_isr else me.view.isr
    counted = quorum if c.waits_for_unknown else frozenset(b for b in quorum if heard_of(me, leader, b))
    least = min((known_end(me, leader, b) for b in counted), default=0)
    if not may_advance(c, g, me, leader) or least <= me.high_watermark:
        return me
    return replace(me, high_watermark=least)


@op
def with_committed(committed: Log, me: Broker) -> Log:
    """Ghost: what lies below the highest watermark ever reached by a leader."""
    return me.log[: me.high_watermark] if me.high_watermark > len(committed) else committed
