"""Responses to a producer, and the records that a consumer can read.

Sources: ReplicaManager.appendRecords, DelayedProduce, Partition.checkEnoughReplicasReachOffset; KIP-966.

With acks=0 there is no response; with acks=1 the append is a success. With acks=all the record waits at the leader
until the high watermark has passed it. An error after the append promises nothing: the record may still be committed
later. Responses are not part of the state; they follow from a step of the leader, that is from the broker before and
after it. A leader that is reelected without stepping down still responds; the state does not say which of its older
records a producer then waits for.
"""

from __future__ import annotations

import enum

from elrcheck.lang.runtime import op
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.choices import AcksAdmission
from elrcheck.model.config import Config
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Acks, Broker, Log, Offset, Settings, acts, hosts


class ProduceAnswer(enum.Enum):
    """Kafka's error names for a produce request; NONE is a success, WAITING no response yet."""

    WAITING = 0
    NONE = 1
    NOT_ENOUGH_REPLICAS = 2
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 3
    NOT_LEADER_OR_FOLLOWER = 4
    REQUEST_TIMED_OUT = 5
    KAFKA_STORAGE_ERROR = 6


@op
def leads_partition(broker: Broker, b: Replica) -> bool:
    """b acts as leader in its own view."""
    return acts(broker) and broker.view.leader == b and hosts(broker)


@op
def produce_error(c: Config, settings: Settings, leader: Broker, leader_id: Replica, acks: Acks) -> ProduceAnswer:
    """The error with which a leader rejects a write before the append, or its response right after the append.

    ReplicaManager.appendRecords, Partition.appendRecordsToLeader (NOT_ENOUGH_REPLICAS).
    """
    if not leads_partition(leader, leader_id):
        return ProduceAnswer.NOT_LEADER_OR_FOLLOWER
    admitting = leader.view.isr if c.acks_admission == AcksAdmission.COMMITTED else maximal_isr(leader)
    if acks == Acks.ALL and len(admitting) < leader_min_isr(c, settings, leader, leader_id):
        return ProduceAnswer.NOT_ENOUGH_REPLICAS
    return ProduceAnswer.WAITING if acks == Acks.ALL else ProduceAnswer.NONE


@op
def waits(leader: Broker, leader_id: Replica, k: Offset) -> bool:
    """The producer of the record at offset k waits for the leader, which appended it in this epoch."""
    return (
        leads_partition(leader, leader_id)
        and leader.high_watermark <= k
        and k < len(leader.log)
        and leader.log[k].epoch == leader.view.leader_epoch
        and leader.log[k].acks == Acks.ALL
    )


@op
def answer_after(c: Config, settings: Settings, after: Broker, leader_id: Replica, k: Offset) -> ProduceAnswer:
    """The response to the producer of the record at k in a step of the leader to the state `after`.

    DelayedProduce.tryComplete, Partition.checkEnoughReplicasReachOffset: the leader counts the members of the maximal
    ISR again after the watermark has passed the record. If the leader dies, the producer times out.
    """
    if not acts(after):
        return ProduceAnswer.REQUEST_TIMED_OUT
    if not hosts(after):
        return ProduceAnswer.KAFKA_STORAGE_ERROR
    if after.view.leader != leader_id:
        return ProduceAnswer.NOT_LEADER_OR_FOLLOWER
    if after.high_watermark <= k:
        return ProduceAnswer.WAITING
    enough = len(maximal_isr(after)) >= leader_min_isr(c, settings, after, leader_id)
    return ProduceAnswer.NONE if enough else ProduceAnswer.NOT_ENOUGH_REPLICAS_AFTER_APPEND


@op
def visible(replica: Broker) -> Log:
    """The records that a consumer of this replica can read: those below its high watermark."""
    return replica.log[: replica.high_watermark]
