"""The metrics of KIP-966 as functions of stored partitions.

Source: KIP-966 "Metrics", and "Other behaviors" for the metric of electable leaders, which the KIP does not name. No
release of Apache Kafka has these metrics; its brokers have UnderMinIsrPartitionCount (KIP-164).

A gauge reads a partition between two events: a controller elects in the same step that makes an election possible, so a
leaderless partition has no active candidate. `awaited` derives from its fields and the settings of its topic what ends
the wait. The controller's memory, with running recoveries and the number of finished ones, is an argument.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from elrcheck.lang.runtime import EMPTY
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.choices import LastKnownLeader, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.partition import stored_last_known_leader
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.queries.cluster_image import ClusterImage, PartitionImage, TopicImage, TopicPartition
from elrcheck.model.state import Partition, Settings


class Awaited(enum.Enum):
    """The event that a leaderless partition waits for; the first that applies."""

    NOTHING = "it has a leader"
    RECOVERY = "an unclean recovery: answers, or the return of the whole LastKnownELR"
    ANY_REPLICA = "any replica to be active: unclean.leader.election.enable"
    ELIGIBLE_REPLICA = "a member of ISR or ELR to be active"
    LAST_KNOWN_LEADER = "the last known leader to be active"
    OPERATOR = "an operator"


@dataclass(frozen=True)
class ElectableLeaders:
    """The electable leaders of one partition."""

    partition: TopicPartition
    count: int


@dataclass(frozen=True)
class ControllerMetrics:
    """The metrics of one controller; the KIP has the same names, below `kafka.controller.`.

    electable_leaders: by partition; the KIP describes this metric without naming it.
    """

    global_under_min_isr_partition_count: int
    unclean_recovery_partitions_count: int
    manual_leader_election_required_partition_count: int
    unclean_recovery_finished_count: int
    electable_leaders: tuple[ElectableLeaders, ...]


# ---------------------------------------------------------------------------- one partition


def is_under_min_isr(g: Settings, p: Partition) -> bool:
    """Return whether the ISR has fewer members than the effective min ISR, with or without a leader."""
    return len(p.isr) < effective_min_isr(g, p.replicas)


def electable_leaders(c: Config, g: Settings, p: Partition) -> int:
    """Return the number of members of ISR and ELR, fenced or not. A stored ELR counts only if elections read it."""
    reads_elr = g.elr_enabled or not c.downgrade_ignores_elr
    return len(p.isr | p.elr) if reads_elr else len(p.isr)


def awaited(c: Config, g: Settings, p: Partition, strategy: RecoveryStrategy) -> Awaited:
    """Return what ends the wait: KIP-966 "Unclean recovery", in its order, or "Delivery plan" without the manager.

    With Balanced and an empty LastKnownELR no replica is known to be complete, so the partition waits for an operator;
    the KIP does not cover this case.
    """
    if p.leader is not None:
        return Awaited.NOTHING
    if strategy == RecoveryStrategy.AGGRESSIVE:
        return Awaited.RECOVERY
    if strategy == RecoveryStrategy.DISABLED and unclean_election_allowed(c, g):
        return Awaited.ANY_REPLICA
    if electable_leaders(c, g, p) > 0:
        return Awaited.ELIGIBLE_REPLICA
    if strategy == RecoveryStrategy.BALANCED and p.last_known_elr != EMPTY:
        return Awaited.RECOVERY
    may_lead = g.elr_enabled and c.last_known_leader != LastKnownLeader.NEVER
    if strategy == RecoveryStrategy.DISABLED and may_lead and stored_last_known_leader(c, p) is not None:
        return Awaited.LAST_KNOWN_LEADER
    return Awaited.OPERATOR


# ---------------------------------------------------------------------------- a cluster


def global_under_min_isr_partition_count(image: ClusterImage) -> int:
    """Return the number of partitions with fewer ISR members than the effective min ISR. Gauge."""
    return sum(is_under_min_isr(topic.settings, listed.partition) for topic, _, listed in _partitions(image))


def broker_under_min_isr_partition_count(image: ClusterImage, broker: int) -> int:
    """Return UnderMinIsrPartitionCount of one broker, which counts the partitions that it leads. Gauge.

    The sum over all brokers is the global count without leaderless partitions. Source: ReplicaManager, which counts in
    the broker's own view, which may be stale.
    """
    return sum(
        is_under_min_isr(topic.settings, listed.partition)
        for topic, _, listed in _partitions(image)
        if listed.partition.leader is not None and listed.id_of(listed.partition.leader) == broker
    )


def unclean_recovery_partitions_count(
    image: ClusterImage, strategy: RecoveryStrategy, running: frozenset[TopicPartition]
) -> int:
    """Return the number of partitions in unclean recovery, including those that wait for their LastKnownELR. Gauge.

    running: recoveries in the controller's memory; an operator may start one under any strategy.
    """
    _check_known(image, running)
    return sum(
        tp in running or awaited(topic.config, topic.settings, listed.partition, strategy) == Awaited.RECOVERY
        for topic, tp, listed in _partitions(image)
    )


def manual_leader_election_required_partition_count(
    image: ClusterImage, strategy: RecoveryStrategy, running: frozenset[TopicPartition]
) -> int:
    """Return the number of leaderless partitions that wait for an operator and in which no recovery runs. Gauge."""
    _check_known(image, running)
    return sum(
        tp not in running and awaited(topic.config, topic.settings, listed.partition, strategy) == Awaited.OPERATOR
        for topic, tp, listed in _partitions(image)
    )


def unclean_recovery_finished_count(before: int, finished: int, restarted: bool) -> int:
    """Return the number of recoveries that this controller has finished since its last restart. Counter.

    before: the counter so far; finished: recoveries that have ended since. Raises ValueError if one is negative.
    """
    if before < 0 or finished < 0:
        raise ValueError(f"a counter does not go back: before {before}, finished {finished}")
    return finished if restarted else before + finished


def controller_metrics(
    image: ClusterImage, strategy: RecoveryStrategy, running: frozenset[TopicPartition], finished: int
) -> ControllerMetrics:
    """Return all metrics of the KIP. finished: see `unclean_recovery_finished_count`."""
    return ControllerMetrics(
        global_under_min_isr_partition_count=global_under_min_isr_partition_count(image),
        unclean_recovery_partitions_count=unclean_recovery_partitions_count(image, strategy, running),
        manual_leader_election_required_partition_count=manual_leader_election_required_partition_count(
            image, strategy, running
        ),
        unclean_recovery_finished_count=finished,
        electable_leaders=tuple(
            ElectableLeaders(tp, electable_leaders(topic.config, topic.settings, listed.partition))
            for topic, tp, listed in _partitions(image)
        ),
    )


def _partitions(image: ClusterImage) -> tuple[tuple[TopicImage, TopicPartition, PartitionImage], ...]:
    """Return all partitions, sorted by the name of the topic, then by index."""
    return tuple(
        (topic, TopicPartition(topic.name, index), listed)
        for topic in sorted(image.topics, key=lambda topic: topic.name)
        for index, listed in enumerate(topic.partitions)
    )


def _check_known(image: ClusterImage, running: frozenset[TopicPartition]) -> None:
    """Raise ValueError if a recovery runs for a partition that does not exist or has a leader."""
    leaderless = {tp for _, tp, listed in _partitions(image) if listed.partition.leader is None}
    strangers = sorted(f"{tp.topic}-{tp.index}" for tp in running - leaderless)
    if strangers:
        raise ValueError("no partition without a leader: " + ", ".join(strangers))
