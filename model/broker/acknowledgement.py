"""What a producer is told, and what a consumer sees.

Sources: ReplicaManager.appendRecords, DelayedProduce, Partition.checkEnoughReplicasReachOffset; KIP-966.

With acks=0 nothing is told, with acks=1 the append is success. With acks=all the record waits in the
leader until the high watermark has passed it. A refusal after the append promises nothing: the
record may still be committed later. The answers are not part of the state; they follow from a step
of the leader, that is from the broker before and after it. A leader that is elected anew without
stepping down still answers; which of its older records somebody waits for is not known here then.
"""

from __future__ import annotations

import enum

from elrcheck.lang.runtime import op
from elrcheck.lang.types import Replica
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.config import AcksAdmission, Config
from elrcheck.model.state import Acks, Broker, Log, Offset, Settings, Status, leader_min_isr


class ProduceAnswer(enum.Enum):
    """Kafka's error names for a produce request; NONE is success, WAITING no answer yet."""

    WAITING = 0
    NONE = 1
    NOT_ENOUGH_REPLICAS = 2
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 3
    NOT_LEADER_OR_FOLLOWER = 4
    REQUEST_TIMED_OUT = 5


@op
def leads_partition(me: Broker, b: Replica) -> bool:
    return me.status == Status.RUNNING and me.view.leader == b


@op
def produce_error(c: Config, g: Settings, me: Broker, b: Replica, acks: Acks) -> ProduceAnswer:
    """Whether b refuses a write before it appends; otherwise what it answers right after the append."""
    if not leads_partition(me, b):
        return ProduceAnswer.NOT_LEADER_OR_FOLLOWER
    admitting = me.view.isr if c.acks_admission == AcksAdmission.COMMITTED else maximal_isr(me)
    if acks == Acks.ALL and len(admitting) < leader_min_isr(c, g, me, b):
        return ProduceAnswer.NOT_ENOUGH_REPLICAS
    return ProduceAnswer.WAITING if acks == Acks.ALL else ProduceAnswer.NONE


@op
def waits(me: Broker, b: Replica, k: Offset) -> bool:
    """The producer of the record at offset k waits for an answer of b, which wrote it in this epoch."""
    return (
        leads_partition(me, b)
        and me.high_watermark <= k
        and k < len(me.log)
        and me.log[k].epoch == me.view.leader_epoch
        and me.log[k].acks == Acks.ALL
    )


@op
def answer_after(c: Config, g: Settings, after: Broker, b: Replica, k: Offset) -> ProduceAnswer:
    """What a step of b, after which it is `after`, tells the producer who waited for the record at k.

    A producer whose leader died hears nothing and gives up. The members of the maximal ISR are
    counted once more when the watermark has passed the record.
    """
    if after.status != Status.RUNNING:
        return ProduceAnswer.REQUEST_TIMED_OUT
    if after.view.leader != b:
        return ProduceAnswer.NOT_LEADER_OR_FOLLOWER
    if after.high_watermark <= k:
        return ProduceAnswer.WAITING
    enough = len(maximal_isr(after)) >= leader_min_isr(c, g, after, b)
    return ProduceAnswer.NONE if enough else ProduceAnswer.NOT_ENOUGH_REPLICAS_AFTER_APPEND


@op
def visible(me: Broker) -> Log:
    """What a consumer of this replica can read: the records below its high watermark."""
    return me.log[: me.high_watermark]
