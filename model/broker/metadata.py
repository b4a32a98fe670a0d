"""Metadata as a broker applies it: it becomes leader or follower, or loses its replica.

Sources: BrokerMetadataPublisher, ReplicaManager.applyDelta, Partition.makeLeader and makeFollower.

A batch collapses to its final state. With propagation LATEST a broker applies the newest record; with LOG it may stop
at any record in between, but not before its own registration. It applies one publish at a time
(MetadataLoader.maybePublishMetadata): topics first, then configurations.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.absent import no_exchange, no_peers
from elrcheck.model.alternatives.reductions import forget_registration, no_news
from elrcheck.model.broker.epoch_cache import cut, leads_from_here, leads_no_more, without_log
from elrcheck.model.broker.ghosts import observed
from elrcheck.model.broker.high_watermark import with_high_watermark
from elrcheck.model.broker.logs import settled_after_metadata
from elrcheck.model.choices import MinIsrPropagation, Propagation, Reelection, Truncation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot, without_values_of_brokers
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica, Vec
from elrcheck.model.state import (
    Broker,
    KnownMinIsr,
    PartitionEpoch,
    Peer,
    RecordNumber,
    Settings,
    Snapshot,
    Stage,
    State,
    Status,
    View,
    hosts,
    leads,
)


@op
def carried_over(peer: Peer) -> Peer:
    """The follower state from an earlier epoch: its log end offset counts, but does not qualify it to join the ISR."""
    return replace(peer, carried=1 if peer.log_end_offset is not None else 0)


@op
def retained_peers(c: Config, broker: Broker, b: Replica, to: Snapshot) -> Vec[Peer]:
    """Partition.makeLeader: the follower state that leader b retains after new metadata.

    It retains everything in the same epoch. If b leads a later epoch without having stepped down, Kafka retains
    everything, too, in the ISR or not, however many epochs b has missed (Replica.resetReplicaState, F-51).
    """
    own_epoch = broker.view.leader_epoch
    same_epoch = own_epoch == to.leader_epoch
    missed = c.reelection == Reelection.RESET_ON_GAP and to.leader_epoch > own_epoch + 1
    retains = same_epoch or (c.reelection != Reelection.RESET and not missed)
    return tuple(
        (broker.peers[f] if same_epoch else carried_over(broker.peers[f]))
        if f != b and broker.view.leader == b and f in to.replicas and retains
        else Peer(log_end_offset=None, broker_epoch=0)
        for f in c.brokers
    )


@op
def published_min_isr(c: Config, settings: Settings, broker: Broker, b: Replica, to: Snapshot) -> KnownMinIsr:
    """The min.insync.replicas in the publish that ends with a partition record.

    With propagation LOG it has a step of its own.
    """
    if c.min_isr_propagation == MinIsrPropagation.LOG or c.min_isr_changes == 0:
        return broker.min_isr
    own = settings.topic_min_isr is None and settings.broker_min_isr[b] is not None
    return known_min_isr(c, settings, b) if own else to.min_isr


@op
def applies_later(c: Config, broker: Broker, b: Replica, to: Snapshot) -> bool:
    """b applies the configurations of a publish in a separate step (onMetadataUpdate, F-24).

    Only a leader reads the value in between: for any other broker both parts are one step. A process that has applied
    nothing so far loads its log with the newest value (LogManager.startup).
    """
    topics_first = c.min_isr_propagation == MinIsrPropagation.TOPICS_FIRST
    return topics_first and to.leader == b and broker.view.partition_epoch > 0


@op
def with_published_min_isr(c: Config, settings: Settings, broker: Broker, b: Replica, to: Snapshot) -> Broker:
    """b with the min.insync.replicas of the publish that ends with record `to`, applied or due."""
    value = published_min_isr(c, settings, broker, b, to)
    if not applies_later(c, broker, b, to):
        return replace(broker, min_isr=value)
    return replace(broker, due_min_isr=value if value != broker.min_isr else 0)


@op
def as_leader(c: Config, settings: Settings, broker: Broker, b: Replica, to: Snapshot, view: View) -> Broker:
    """Partition.makeLeader: b retains follower state and recomputes its high watermark."""
    same_epoch = broker.view.leader_epoch == to.leader_epoch
    leader = replace(
        broker if same_epoch else leads_from_here(c, broker),
        view=view,
        epoch_start=broker.epoch_start if same_epoch else len(broker.log),
        settled=0,
        peers=retained_peers(c, broker, b, to),
        alter=no_exchange(c),
    )
    return with_high_watermark(c, settings, leader, b)


@op
def as_follower(c: Config, broker: Broker, b: Replica, to: Snapshot, view: View) -> Broker:
    """Partition.makeFollower. A broker that is no longer a replica deletes its log (stopReplicas)."""
    same_epoch = broker.view.leader_epoch == to.leader_epoch
    same_leader = broker.view.leader == to.leader
    follower = replace(
        leads_no_more(c, broker, b),
        view=view,
        epoch_start=0,
        settled=settled_after_metadata(c, broker, same_leader, same_epoch),
        peers=no_peers(c),
        alter=no_exchange(c),
    )
    if b not in to.replicas:
        return without_log(follower)
    if c.truncation == Truncation.HIGH_WATERMARK and to.leader is not None and not same_epoch:
        return cut(c, follower, broker.high_watermark)
    return follower


@op
def with_metadata(
    c: Config, settings: Settings, before: Broker, b: Replica, to: Snapshot, at: PartitionEpoch
) -> Broker:
    """b after it has applied record number `at` (ReplicaManager.applyDelta), which drops a pending proposal.

    A replica in a failed directory becomes neither leader nor follower (getOrCreatePartition).
    """
    broker = replace(with_published_min_isr(c, settings, before, b, to), ahead=0)
    if to.leader_epoch == broker.view.leader_epoch and not c.applies_equal_epoch:
        return broker
    view = View(
        leader=to.leader,
        leader_epoch=to.leader_epoch,
        partition_epoch=at,
        isr=to.isr if to.leader == b else EMPTY,
        replicas=to.replicas,
    )
    if not hosts(broker):
        return replace(broker, view=view, alter=no_exchange(c))
    leader = as_leader(c, settings, broker, b, to, view)
    follower = as_follower(c, broker, b, to, view)
    return forget_registration(c, leader if to.leader == b else follower)


@action(message=Message("Controller", "b"), fairness=Fair("the broker reads the metadata log: metadata application"))
def ApplyMetadata(c: Config, s: State, b: Replica) -> State:
    """b applies all metadata up to the newest record of the partition or of min.insync.replicas.

    BrokerMetadataPublisher.onMetadataUpdate.
    """
    broker = s.broker[b]
    require(broker.status == Status.RUNNING, "b is running")
    require(broker.due_min_isr == 0, "b has applied everything it has read")
    newest = snapshot(c, s.settings, s.partition)
    unread = published_min_isr(c, s.settings, broker, b, newest) != broker.min_isr
    with_topics = c.min_isr_propagation == MinIsrPropagation.ATOMIC or broker.ahead > 0
    newer = broker.view.partition_epoch < s.partition.partition_epoch
    require(newer or (unread and with_topics), "there is newer metadata")
    after = with_metadata(c, s.settings, broker, b, newest, s.partition.partition_epoch)
    return observed(c, s, replace(s, broker=put(s.broker, b, after)), b)


@action(message=Message("Controller", "b"), fairness=Unfair("a disturbance: the response takes longer"))
def ApplyMetadataFirst(c: Config, s: State, b: Replica) -> State:
    """b applies the newest record while its AlterPartition is in flight, and the exchange continues.

    The record cancels the proposal (Partition.updateAssignmentAndIsr), and AlterPartitionManager sends no other one
    before the response. The controller rejects a request that is older than the record. A record that b knows from a
    response has an equal epoch: it cancels a newer proposal, which the controller may still grant.
    """
    broker = s.broker[b]
    require(c.late_answers > 0, "the scope has late responses")
    require(broker.status == Status.RUNNING, "b is running")
    require(broker.due_min_isr == 0, "b has applied everything it has read")
    under_way = broker.alter.stage == Stage.SENT or broker.alter.stage == Stage.ANSWERED
    require(under_way and broker.alter.overtaken == 0, "the response to b's proposal has not arrived yet")
    newer = broker.view.partition_epoch < s.partition.partition_epoch
    unread = broker.view.partition_epoch == s.partition.partition_epoch and broker.ahead > 0
    require(newer or unread, "b has not read the newest record")
    newest = snapshot(c, s.settings, s.partition)
    after = with_metadata(c, s.settings, broker, b, newest, s.partition.partition_epoch)
    waiting = replace(after, alter=replace(broker.alter, overtaken=1))
    return observed(
        c,
        s,
        replace(s, broker=put(s.broker, b, waiting), spent=replace(s.spent, late_answers=s.spent.late_answers + 1)),
        b,
    )


@action(message=Message("Controller", "b"), fairness=Unfair("a broker may stop at a record, but need not"))
def ApplyOlderRecord(c: Config, s: State, b: Replica, at: RecordNumber) -> State:
    """b applies metadata up to record number `at`, which is not the newest.

    A broker's MetadataLoader may lag behind the controller by any number of records.
    """
    broker = s.broker[b]
    require(c.metadata == Propagation.LOG, "brokers may lag behind")
    require(broker.status == Status.RUNNING, "b is running")
    require(broker.due_min_isr == 0, "b has applied everything it has read")
    require(broker.view.partition_epoch < at and at < s.partition.partition_epoch, "the record is unread")
    require(at >= broker.registered_at or not c.registration_catch_up, "b has read its own registration")
    require(not no_news(c, s.metadata[at - 1], s.metadata[at], b), "the next record changes something for b")
    settings = without_values_of_brokers(c, s.settings)
    after = with_metadata(c, settings, broker, b, s.metadata[at - 1], at)
    return observed(c, s, replace(s, broker=put(s.broker, b, after)), b)


@action(
    message=Message("Controller", "b"),
    fairness=Fair("the broker reads configuration records from the metadata log: metadata application"),
)
def ApplyMinIsr(c: Config, s: State, b: Replica) -> State:
    """b applies a new min.insync.replicas (DynamicConfigPublisher, LogManager.updateTopicConfig, F-24).

    With TOPICS_FIRST this is the second part of a publish with topics (`applies_later`), or a publish without topics.
    UnifiedLog.updateConfig advances no watermark and completes no request: the next record, fetch or ISR does. With LOG
    it may happen at any time, even before the ISR that the controller wrote with the value.
    """
    broker = s.broker[b]
    in_order = c.min_isr_propagation == MinIsrPropagation.TOPICS_FIRST
    require(c.min_isr_propagation != MinIsrPropagation.ATOMIC, "brokers apply min ISR in a separate step")
    require(broker.status == Status.RUNNING, "b is running")
    value = broker.due_min_isr if broker.due_min_isr > 0 else known_min_isr(c, s.settings, b)
    require(broker.min_isr != value, "b has an older value")
    alone = broker.view.partition_epoch == s.partition.partition_epoch and broker.ahead == 0
    require(not in_order or broker.due_min_isr > 0 or alone, "b has applied the topics")
    updated = replace(broker, min_isr=value, due_min_isr=0)
    advances = leads(s, b) and not in_order
    after = with_high_watermark(c, s.settings, updated, b) if advances else updated
    return observed(c, s, replace(s, broker=put(s.broker, b, after)), b)
