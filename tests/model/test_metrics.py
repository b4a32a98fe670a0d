"""The metrics of KIP-966 on hand-made partitions. Three brokers 10, 11, 12; min ISR 2 unless said."""

from __future__ import annotations

import pytest

from elrcheck.model.choices import LastKnownLeader, LklStorage
from elrcheck.model.choices import RecoveryStrategy as Strategy
from elrcheck.model.config import Config
from elrcheck.model.queries.cluster_image import ClusterImage, TopicPartition
from elrcheck.model.queries.metrics import (
    Awaited,
    ControllerMetrics,
    ElectableLeaders,
    awaited,
    broker_under_min_isr_partition_count,
    controller_metrics,
    electable_leaders,
    global_under_min_isr_partition_count,
    is_under_min_isr,
    manual_leader_election_required_partition_count,
    unclean_recovery_finished_count,
    unclean_recovery_partitions_count,
)
from elrcheck.model.state import Partition, Settings
from support.admin_images import cluster, partition, settings, topic

NOBODY: frozenset[TopicPartition] = frozenset()

HEALTHY = partition()
AT_MIN_ISR = partition(isr=(0, 1))
ELR_ALIVE = partition(isr=(0,), elr=(1,))
ELR_FENCED = partition(isr=(), elr=(1, 2), leader=None)
ALL_UNCLEAN = partition(isr=(), last_known_elr=(0, 1), leader=None)
LOST = partition(isr=(), leader=None)


# ---------------------------------------------------------------------------- under min ISR


@pytest.mark.parametrize(
    ("p", "min_isr", "under"),
    [
        (HEALTHY, 2, False),
        (HEALTHY, 3, False),
        (HEALTHY, 4, False),  # three replicas: min ISR in effect is 3
        (AT_MIN_ISR, 2, False),
        (AT_MIN_ISR, 3, True),
        (ELR_ALIVE, 2, True),  # members of the ELR do not count
        (ELR_ALIVE, 1, False),
        (ELR_FENCED, 1, True),
        (partition(replicas=(0,), isr=(0,)), 2, False),  # one replica: min ISR in effect is 1
        (partition(replicas=(0, 1), isr=(0,)), 3, True),
    ],
)
def test_under_min_isr(p: Partition, min_isr: int, under: bool) -> None:
    assert is_under_min_isr(settings(min_isr), p) is under


def test_global_count_includes_partitions_without_a_leader() -> None:
    image = cluster(
        topic("a", HEALTHY, ELR_ALIVE, ELR_FENCED),
        topic("b", AT_MIN_ISR),
        topic("strict", AT_MIN_ISR, HEALTHY, own_settings=settings(min_isr=3)),
    )
    assert global_under_min_isr_partition_count(image) == 3
    assert global_under_min_isr_partition_count(cluster()) == 0


def test_brokers_count_the_partitions_they_lead() -> None:
    """Under min ISR: one led by 10, one led by 12, one without a leader that no broker counts."""
    image = cluster(topic("a", ELR_ALIVE, partition(isr=(2,), elr=(1,), leader=2), ELR_FENCED, HEALTHY))
    assert [broker_under_min_isr_partition_count(image, broker) for broker in (10, 11, 12)] == [1, 0, 1]
    assert global_under_min_isr_partition_count(image) == 3


# ---------------------------------------------------------------------------- electable leaders


@pytest.mark.parametrize(
    ("p", "count"), [(HEALTHY, 3), (AT_MIN_ISR, 2), (ELR_ALIVE, 2), (ELR_FENCED, 2), (ALL_UNCLEAN, 0)]
)
def test_electable_leaders_are_isr_and_elr(p: Partition, count: int) -> None:
    assert electable_leaders(Config(), settings(), p) == count


def test_a_stored_elr_counts_only_where_an_election_reads_it() -> None:
    """With ELR off the KIP ignores what is stored; released code may elect from it (F-28)."""
    off = settings(elr_enabled=False)
    assert electable_leaders(Config(downgrade_ignores_elr=True), off, ELR_ALIVE) == 1
    assert electable_leaders(Config(downgrade_ignores_elr=False), off, ELR_ALIVE) == 2


# ---------------------------------------------------------------------------- what is waited for


@pytest.mark.parametrize(
    ("strategy", "p", "expected"),
    [
        *((strategy, ELR_ALIVE, Awaited.NOTHING) for strategy in Strategy),
        (Strategy.AGGRESSIVE, ELR_FENCED, Awaited.RECOVERY),
        (Strategy.AGGRESSIVE, ALL_UNCLEAN, Awaited.RECOVERY),
        (Strategy.AGGRESSIVE, LOST, Awaited.RECOVERY),
        (Strategy.BALANCED, ELR_FENCED, Awaited.ELIGIBLE_REPLICA),
        (Strategy.BALANCED, ALL_UNCLEAN, Awaited.RECOVERY),
        (Strategy.BALANCED, LOST, Awaited.OPERATOR),
        (Strategy.NONE, ELR_FENCED, Awaited.ELIGIBLE_REPLICA),
        (Strategy.NONE, ALL_UNCLEAN, Awaited.OPERATOR),
        (Strategy.NONE, LOST, Awaited.OPERATOR),
        (Strategy.DISABLED, ELR_FENCED, Awaited.ELIGIBLE_REPLICA),
        (Strategy.DISABLED, ALL_UNCLEAN, Awaited.OPERATOR),
    ],
)
def test_awaited_with_the_recovery_manager(strategy: Strategy, p: Partition, expected: Awaited) -> None:
    assert awaited(Config(), settings(), p, strategy) == expected


PHASE_1 = Config(last_known_leader=LastKnownLeader.ACTIVE)
CODE = Config(last_known_leader=LastKnownLeader.ACTIVE, lkl_storage=LklStorage.OVERLOAD)


@pytest.mark.parametrize(
    ("c", "g", "p", "expected"),
    [
        # KIP without its manager: the last known leader, if there is one.
        (PHASE_1, settings(), partition(isr=(), leader=None, last_known_leader=1), Awaited.LAST_KNOWN_LEADER),
        (PHASE_1, settings(), LOST, Awaited.OPERATOR),
        # Eligible replicas go first.
        (PHASE_1, settings(), partition(isr=(), elr=(2,), leader=None, last_known_leader=1), Awaited.ELIGIBLE_REPLICA),
        # Code keeps it as the only member of LastKnownELR; with two members nobody knows who it was.
        (CODE, settings(), partition(isr=(), last_known_elr=(2,), leader=None), Awaited.LAST_KNOWN_LEADER),
        (CODE, settings(), ALL_UNCLEAN, Awaited.OPERATOR),
        # With ELR off nobody reads that field, and the last ISR member is waited for.
        (CODE, settings(elr_enabled=False), partition(isr=(1,), leader=None), Awaited.ELIGIBLE_REPLICA),
        (CODE, settings(elr_enabled=False), partition(isr=(), last_known_elr=(2,), leader=None), Awaited.OPERATOR),
        # An unclean election takes anybody, whatever else is stored.
        (Config(unclean_leader_election_enable=True), settings(), ELR_FENCED, Awaited.ANY_REPLICA),
        (Config(unclean_leader_election_enable=True), settings(), LOST, Awaited.ANY_REPLICA),
    ],
)
def test_awaited_without_a_recovery_manager(c: Config, g: Settings, p: Partition, expected: Awaited) -> None:
    assert awaited(c, g, p, Strategy.DISABLED) == expected


def test_the_strategy_replaces_the_old_boolean() -> None:
    """With a manager unclean.leader.election.enable has no say: None waits for an operator."""
    c = Config(unclean_leader_election_enable=True)
    assert awaited(c, settings(), LOST, Strategy.NONE) == Awaited.OPERATOR


# ---------------------------------------------------------------------------- recovery gauges


def sample() -> ClusterImage:
    return cluster(topic("a", HEALTHY, ELR_FENCED, ALL_UNCLEAN), topic("b", LOST, ELR_ALIVE))


@pytest.mark.parametrize(
    ("strategy", "recovering", "manual"),
    [
        (Strategy.DISABLED, 0, 2),  # ALL_UNCLEAN, LOST
        (Strategy.NONE, 0, 2),
        (Strategy.BALANCED, 1, 1),  # ALL_UNCLEAN waits for its LastKnownELR; LOST for an operator
        (Strategy.AGGRESSIVE, 3, 0),  # everything without a leader
    ],
)
def test_recovery_gauges_by_strategy(strategy: Strategy, recovering: int, manual: int) -> None:
    assert unclean_recovery_partitions_count(sample(), strategy, NOBODY) == recovering
    assert manual_leader_election_required_partition_count(sample(), strategy, NOBODY) == manual


def test_a_recovery_that_an_operator_started_counts_once_and_needs_no_operator() -> None:
    running = frozenset({TopicPartition("b", 0), TopicPartition("a", 2)})
    assert unclean_recovery_partitions_count(sample(), Strategy.BALANCED, running) == 2
    assert manual_leader_election_required_partition_count(sample(), Strategy.BALANCED, running) == 0
    one = frozenset({TopicPartition("b", 0)})
    assert unclean_recovery_partitions_count(sample(), Strategy.NONE, one) == 1
    assert manual_leader_election_required_partition_count(sample(), Strategy.NONE, one) == 1


@pytest.mark.parametrize("name", [("a", 0), ("a", 3), ("c", 0)])
def test_a_recovery_runs_only_where_a_leader_is_missing(name: tuple[str, int]) -> None:
    """a-0 has a leader; a-3 and c-0 are not there."""
    running = frozenset({TopicPartition(*name)})
    for gauge in (unclean_recovery_partitions_count, manual_leader_election_required_partition_count):
        with pytest.raises(ValueError, match=f"no partition without a leader: {name[0]}-{name[1]}"):
            gauge(sample(), Strategy.BALANCED, running)


def test_finished_recoveries_are_counted_until_a_restart() -> None:
    assert unclean_recovery_finished_count(3, 2, restarted=False) == 5
    assert unclean_recovery_finished_count(3, 0, restarted=True) == 0
    assert unclean_recovery_finished_count(3, 2, restarted=True) == 2


@pytest.mark.parametrize(("before", "finished"), [(-1, 0), (0, -1)])
def test_a_counter_does_not_go_back(before: int, finished: int) -> None:
    with pytest.raises(ValueError, match="does not go back"):
        unclean_recovery_finished_count(before, finished, restarted=False)


def test_all_metrics_together() -> None:
    assert controller_metrics(sample(), Strategy.BALANCED, NOBODY, finished=7) == ControllerMetrics(
        global_under_min_isr_partition_count=4,  # all but HEALTHY
        unclean_recovery_partitions_count=1,
        manual_leader_election_required_partition_count=1,
        unclean_recovery_finished_count=7,
        electable_leaders=(
            ElectableLeaders(TopicPartition("a", 0), 3),
            ElectableLeaders(TopicPartition("a", 1), 2),
            ElectableLeaders(TopicPartition("a", 2), 0),
            ElectableLeaders(TopicPartition("b", 0), 0),
            ElectableLeaders(TopicPartition("b", 1), 2),
        ),
    )
