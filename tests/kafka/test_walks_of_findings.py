"""What findings say of the controller classes where no exported test says it: a walk, and its control."""

from __future__ import annotations

import pytest

from elrcheck.kafka.controller_steps import (
    AlterPartition,
    Configure,
    Elect,
    Fence,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    Setup,
    Step,
    StepAnswer,
    SwitchElr,
    Unfence,
)
from elrcheck.kafka.kafka_oracle import open_oracle
from elrcheck.kafka.partition_questions import KafkaPartition
from support.kafka_jars import jars_or_skip

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

LED = KafkaPartition((0, 1), (0, 1), leader=0, leader_epoch=1, partition_epoch=1, directories=(0, 0))
LEADERLESS = KafkaPartition((0, 1), (1,), leader=-1, leader_epoch=3, partition_epoch=3, directories=(0, 0))


def last(version: str, setup: Setup, *walks: tuple[Step, ...]) -> list[StepAnswer]:
    """The answer to the last step of each walk."""
    with open_oracle(jars_or_skip(version)) as oracle:
        return [answers[-1] for answers in oracle.walks([(setup, walk) for walk in walks])]


@pytest.mark.parametrize(("version", "stays"), [("3.9.1", True), ("4.0.2", False)])
def test_f_2(version: str, stays: bool) -> None:
    """Without ELR an unclean registration before the fencing; after a fencing all releases do the same."""
    setup = Setup((KafkaBroker(0, 100), KafkaBroker(1, 101)), LED, elr=False, cluster_min_isr=2)
    early, late = last(version, setup, (Register(0, "none"),), (Fence(0), Register(0, "none")))
    assert (early.partition.isr, early.partition.leader) == (((0, 1), 0) if stays else ((1,), 1))
    assert early.partition.leader_epoch == (1 if stays else 2)
    assert (late.partition.isr, late.partition.leader, late.partition.leader_epoch) == ((1,), 1, 2)


@pytest.mark.parametrize(("version", "fails"), [("4.0.0", True), ("4.0.2", True), ("4.1.0", False)])
def test_f_59(version: str, fails: bool) -> None:
    """An unclean election after -1 was stored; with ELR left off it succeeds in every release."""
    brokers = (KafkaBroker(0, 100, True, True), KafkaBroker(1, 101, True, True))
    setup = Setup(brokers, LEADERLESS, elr=False, cluster_min_isr=2)
    stored, off = last(
        version,
        setup,
        (SwitchElr(True), Register(1, "none"), Unfence(0), Elect("UNCLEAN")),
        (Register(1, "none"), Unfence(0), Elect("UNCLEAN")),
    )
    assert (off.error, off.partition.leader) == ("NONE", 0)
    assert stored.error == ("ELIGIBLE_LEADERS_NOT_AVAILABLE" if fails else "NONE")
    assert stored.partition.leader == (-1 if fails else 0)
    assert (stored.partition.last_known_elr == (-1,)) == fails


@pytest.mark.parametrize(("version", "completes"), [("4.2.1", False), ("4.3.1", True)])
def test_f_60(version: str, completes: bool) -> None:
    """Broker 2 joins while broker 1 is down: is the move from 0 and 1 to 1 and 2 complete?"""
    brokers = (KafkaBroker(0, 100), KafkaBroker(1, 101, True, True), KafkaBroker(2, 102))
    partition = KafkaPartition((0, 1), (0,), leader=0, leader_epoch=3, partition_epoch=3, directories=(0, 0))
    setup = Setup(brokers, partition, elr=True, cluster_min_isr=2)
    (joined,) = last(version, setup, (Reassign((1, 2)), AlterPartition(0, (Member(0), Member(2)))))
    if completes:
        assert (joined.partition.replicas, joined.partition.isr) == ((1, 2), (2,))
    else:
        assert (joined.partition.replicas, joined.partition.isr) == ((1, 2, 0), (0, 2))


@pytest.mark.parametrize("elr", [True, False])
@pytest.mark.parametrize(("version", "target"), [("4.2.1", (2, 1)), ("4.3.1", (2, 3))])
def test_f_61(version: str, target: tuple[int, ...], elr: bool) -> None:
    """Cancelled with 0 and 2 in the ISR; the control is a cancellation with 0 and 1 in it."""
    brokers = tuple(KafkaBroker(b, 100 + b) for b in range(4))
    setup = Setup(brokers, LED, elr=elr, cluster_min_isr=2)
    moved, stays = last(
        version,
        setup,
        (Reassign(target), Fence(1), AlterPartition(0, (Member(0), Member(2))), Reassign(None)),
        (Reassign(target), Reassign(None)),
    )
    assert set(moved.partition.replicas) == {0, 1} and moved.partition.isr == (0,)
    assert set(stays.partition.replicas) == {0, 1} and set(stays.partition.isr) == {0, 1}


def test_f_62() -> None:
    """A controller resigns at a registration; after a write of min.insync.replicas it grants it."""
    partition = KafkaPartition((1,), (1,), leader=1, leader_epoch=1, partition_epoch=1, directories=(0,))
    brokers = (KafkaBroker(0, 100), KafkaBroker(1, 101))
    setup = Setup(brokers, partition, cluster_min_isr=1, topic_unclean=True)
    stored: tuple[Step, ...] = (Reassign((0, 1)), Fence(1), Reassign(None))
    with open_oracle(jars_or_skip("4.3.1"), "live") as oracle:
        stuck, cleared = oracle.walks(
            [(setup, (*stored, Register(1, "none"))), (setup, (*stored, Configure("topic", "1"), Register(1, "none")))]
        )
    assert stuck[-2].partition is not None and stuck[-2].partition.last_known_elr == (0,)
    assert (stuck[-1].error, stuck[-1].reply) == ("UNKNOWN_SERVER_ERROR", ("RESIGNED",))
    assert "Replica 0 is not assigned" in (stuck[-1].failure or "")
    assert (cleared[-1].error, cleared[-1].reply) == ("NONE", ())
