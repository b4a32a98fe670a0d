"""A replica that is removed and added again while its leader lags: Kafka's own classes take the run.

Three reassignments, by ReplicationControlManager; what the leader does meanwhile, by kafka.cluster.Partition.
`test_prove_reassignments` has the run in the model.
"""

from __future__ import annotations

import pytest

from elrcheck.kafka.broker_steps import (
    Append,
    Beginning,
    BrokerEvent,
    FollowerFetch,
    Granted,
    LookForLag,
    Metadata,
    Proposed,
    Registered,
)
from elrcheck.kafka.controller_steps import AlterPartition, KafkaBroker, Member, Reassign, Setup
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.kafka_oracle import open_broker_oracle, open_oracle
from elrcheck.kafka.partition_questions import KafkaPartition
from support.kafka_jars import jars_or_skip

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

ALL = (0, 1, 2)
RELEASES = ("3.9.1", "4.0.2", "4.1.2", "4.3.1", "4.4.0")
LED = KafkaPartition(ALL, ALL, leader=0, leader_epoch=1, partition_epoch=1, directories=(0, 0, 0))
WRITTEN: tuple[BrokerEvent, ...] = (
    Beginning(0, 100, 2),
    Registered(tuple((b, 100 + b, "active") for b in ALL)),
    Metadata(0, 1, 1, ALL, ALL),
    Append(-1),
    FollowerFetch(1, 101, 0, 1, -1),
    FollowerFetch(1, 101, 1, 1, 1),
    LookForLag(),
)
"""0 leads and has a record; 1 has acknowledged it, and 2 is asked to be dropped from the ISR."""
ANSWER = Granted(1, 2, (0, 1))
NEWEST = Metadata(0, 2, 5, ALL, (0,))
"""The record of the third reassignment; with it 0 hears of all three."""


@pytest.mark.parametrize("elr", [True, False])
@pytest.mark.parametrize("version", RELEASES)
def test_a_new_target_ends_the_adding(version: str, elr: bool) -> None:
    """Of the replica that the second target added: it is in the list, and in neither ISR nor adding."""
    setup = Setup(tuple(KafkaBroker(b, 100 + b) for b in ALL), LED, elr=elr, cluster_min_isr=2)
    walk = (AlterPartition(0, (Member(0), Member(1))), Reassign((0,)), Reassign((0, 1)), Reassign(ALL))
    with open_oracle(jars_or_skip(version)) as oracle:
        (answers,) = oracle.walks([(setup, walk)])
    partitions = [one.partition for one in answers[-4:]]
    assert [one.error for one in answers[-4:]] == ["NONE"] * 4
    assert [set(one.isr) for one in partitions if one] == [{0, 1}, {0}, {0}, {0}]
    assert [one.replicas for one in partitions if one] == [ALL, (0,), (0, 1), ALL]
    assert [one.adding for one in partitions if one] == [(), (), (1,), (2,)]
    assert [(one.leader, one.leader_epoch) for one in partitions if one] == [(0, 1), (0, 2), (0, 2), (0, 2)]


@pytest.mark.parametrize("version", RELEASES)
def test_a_leader_that_lags_acknowledges(version: str) -> None:
    """By the answer it counts 1. If it hears of the reassignments first, the producer is refused."""
    with open_broker_oracle(jars_or_skip(version, Jars.BROKER)) as oracle:
        lags, knows = oracle.walks([(*WRITTEN, ANSWER), (*WRITTEN, NEWEST)])
    assert lags[-2].sent == Proposed(1, 1, ((0, 100), (1, 101)))
    assert lags[-2].produce == ("WAITING",)
    assert (lags[-1].high_watermark, set(lags[-1].isr), lags[-1].produce) == (1, {0, 1}, ("NONE",))
    assert (knows[-1].high_watermark, knows[-1].isr, knows[-1].produce) == (0, (0,), ("WAITING",))
