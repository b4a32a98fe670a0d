"""Log directories, deleted values and partition 0 of the topic, on the model's side of a comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.kafka.conformance.known_classes import StepDisagreement, class_of
from elrcheck.kafka.conformance.model_side import Situation, Unheld, decide_step, situation_of
from elrcheck.kafka.conformance.projections import min_isr_in_effect
from elrcheck.kafka.controller_steps import (
    AssignDirectory,
    Configure,
    Fence,
    Heartbeat,
    KafkaBroker,
    Reassign,
    Register,
    Setup,
    StepAnswer,
)
from elrcheck.kafka.partition_questions import KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.state import Directory, configured_min_isr
from elrcheck.model.variants import variant_named
from elrcheck.results.conform_report import FieldPair
from support.fake_kafka import kafka_of

CODE = Config(**variant_named("code_4_3").knobs)
SETUP = Setup(
    tuple(KafkaBroker(b, 100 + b) for b in range(3)),
    KafkaPartition((0, 1), (0, 1), leader=0),
    topic_min_isr=2,
    cluster_min_isr=1,
)


def after(*steps: object) -> Situation:
    now = situation_of(CODE, SETUP)
    for step in steps:
        error, now = decide_step(now, step)  # type: ignore[arg-type]
        assert error == "NONE"
    return now


def directory(now: Situation, b: int) -> Directory:
    return now.controller.registration[b].directory


def test_a_replica_leaves_the_isr_with_its_directory_and_no_other() -> None:
    other = after(Heartbeat(1, offline=(1,)))
    assert (other.controller, other.online[1]) == (after().controller, (0,))
    own = after(Heartbeat(1, offline=(0,)))
    assert own.controller.partition.isr == frozenset({0})
    assert directory(own, 1) == Directory.OFFLINE
    assert after(Heartbeat(1, offline=(0,)), Heartbeat(1, offline=(0,))) == own, "it is reported again"


def test_a_replica_that_is_made_again_is_in_a_directory_that_is_online() -> None:
    now = after(Heartbeat(1, offline=(0,)), AssignDirectory(1, 1))
    assert directory(now, 1) == Directory.ONLINE
    assert now.directories == (0, 1)
    with pytest.raises(Unheld):
        decide_step(now, AssignDirectory(1, 0))


@pytest.mark.parametrize(
    ("brought", "found"), [((0, 1), Directory.ONLINE), ((0,), Directory.ONLINE), ((1,), Directory.OFFLINE)]
)
def test_a_registration_lists_what_is_there(brought: tuple[int, ...], found: Directory) -> None:
    for earlier in ((), (Heartbeat(1, offline=(0,)),), (Register(1, "none", (1,)),)):
        now = after(*earlier, Register(1, "last", brought))
        assert (directory(now, 1), now.online[1]) == (found, brought)


def test_no_directory_is_recorded_for_a_broker_that_holds_no_replica() -> None:
    now = after(Heartbeat(1, offline=(0,)), Reassign((0,)))
    moved = after(Heartbeat(1, offline=(0,)), Reassign((2, 0)))
    assert now.controller.partition.replicas == (0,) and directory(now, 1) == Directory.ONLINE
    assert directory(moved, 2) == Directory.ONLINE and moved.directories is None
    with pytest.raises(Unheld):
        decide_step(moved, Heartbeat(2, offline=(0,)))


def test_a_heartbeat_that_asks_for_more_is_not_held() -> None:
    for step in (Heartbeat(1, want_shut_down=True, offline=(0,)), Heartbeat(1, want_fence=True)):
        with pytest.raises(Unheld):
            decide_step(after(), step)


def test_a_deleted_value_of_the_topic_leaves_that_of_the_cluster() -> None:
    now = after(Configure("topic", None))
    assert configured_min_isr(now.controller.settings) == 1
    assert after(Configure("topic", None), Configure("topic", None)) == now


def test_with_elr_on_only_the_topics_value_can_be_deleted() -> None:
    for step in (Configure("cluster", None), Configure("broker", None, broker=1)):
        assert decide_step(after(), step)[0] == "INVALID_CONFIG"
        off = situation_of(CODE, replace(SETUP, elr=False))
        with pytest.raises(Unheld):
            decide_step(off, step)


def test_the_effective_min_isr_is_that_of_partition_zero() -> None:
    setup = replace(SETUP, sibling=KafkaPartition((2,), (2,), leader=2))
    beside = situation_of(CODE, setup)
    assert (min_isr_in_effect(beside), min_isr_in_effect(after())) == (1, 2)
    assert decide_step(beside, Fence(1))[1].controller.partition.elr == frozenset()
    assert after(Fence(1)).controller.partition.elr == frozenset({1})


@pytest.mark.parametrize(("fewer", "beside", "known"), [(1, True, "S0"), (1, False, None), (2, True, None)])
def test_a_record_is_not_repeated_for_an_entry_of_partition_zero(fewer: int, beside: bool, known: str | None) -> None:
    """The index says once too often that broker 1 is in the ELR: the model writes two records, Kafka one."""
    setup = replace(SETUP, sibling=KafkaPartition((0, 1), (0, 1), leader=0) if beside else None)
    now = situation_of(CODE, setup)
    stale = tuple(replace(r, stale_entries=int(b == 1)) for b, r in enumerate(now.controller.registration))
    now = replace(now, controller=replace(now.controller, registration=stale))
    step = Register(1, "none")
    error, then = decide_step(now, step)
    answered = kafka_of(then.controller.partition, (0, 0))
    assert answered.partition_epoch == 2
    answered = replace(answered, partition_epoch=answered.partition_epoch - fewer)
    assert setup.partition is not None
    found = StepDisagreement(
        setup,
        (step,),
        setup.partition,
        setup.brokers,
        StepAnswer(error, answered, setup.brokers, 2, True),
        now,
        error,
        then,
        (FieldPair("partition_epoch", str(answered.partition_epoch), "2"),),
    )
    explained = class_of(found)
    assert (None if explained is None else explained.id) == known
