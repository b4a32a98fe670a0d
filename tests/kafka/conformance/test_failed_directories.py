"""Log directories, deleted values and partition 0 of the topic, on the model's side of a comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.kafka.conformance.known_classes import StepDisagreement, class_of, min_isr_in_effect
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, decide_step, situation_of
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
    with pytest.raises(NotRepresentable):
        decide_step(now, AssignDirectory(1, 0))


@pytest.mark.parametrize(
    ("brought", "listed"), [((0, 1), Directory.ONLINE), ((0,), Directory.ONLINE), ((1,), Directory.OFFLINE)]
)
def test_a_registration_lists_what_is_there(brought: tuple[int, ...], listed: Directory) -> None:
    for earlier in ((), (Heartbeat(1, offline=(0,)),), (Register(1, "none", (1,)),)):
        now = after(*earlier, Register(1, "last", brought))
        assert (directory(now, 1), now.online[1]) == (listed, brought)


def test_no_directory_is_recorded_for_a_broker_that_holds_no_replica() -> None:
    now = after(Heartbeat(1, offline=(0,)), Reassign((0,)))
    moved = after(Heartbeat(1, offline=(0,)), Reassign((2, 0)))
    assert now.controller.partition.replicas == (0,) and directory(now, 1) == Directory.ONLINE
    assert directory(moved, 2) == Directory.ONLINE and moved.directories is None
    with pytest.raises(NotRepresentable):
        decide_step(moved, Heartbeat(2, offline=(0,)))


def test_one_heartbeat_unfences_and_names_a_directory_from_the_partition_before() -> None:
    """The broker leads by one record, and its directory is offline by the other (F-66)."""
    alone = (Fence(1), Fence(0))
    both = after(*alone, Heartbeat(0, offline=(0,)))
    p = both.controller.partition
    assert (p.leader, p.isr, p.elr) == (0, frozenset({0}), frozenset({1}))
    assert directory(both, 0) == Directory.OFFLINE and not both.controller.registration[0].fenced
    one = after(*alone, Heartbeat(0, want_fence=True, offline=(0,)), Heartbeat(0))
    q = one.controller.partition
    assert (q.leader, q.isr, q.elr) == (None, frozenset(), frozenset({0, 1}))
    assert directory(one, 0) == Directory.OFFLINE and not one.controller.registration[0].fenced
    repaired = replace(CODE, heartbeat_in_one_snapshot=False)
    before = after(*alone)
    assert (
        decide_step(replace(before, config=replace(repaired, broker_count=3)), Heartbeat(0, offline=(0,)))[1].controller
        == one.controller
    )


def test_a_heartbeat_may_fence_or_begin_a_shutdown_as_well() -> None:
    """Both records are the same, so that both epochs increase by two."""
    for step, leaving in ((Heartbeat(0, True, offline=(0,)), False), (Heartbeat(0, False, True, offline=(0,)), True)):
        now = after(step).controller
        assert (now.partition.leader, now.partition.leader_epoch, now.partition.partition_epoch) == (1, 2, 2)
        assert (now.registration[0].fenced, now.registration[0].in_controlled_shutdown) == (not leaving, leaving)
    granted = after(Heartbeat(1, want_shut_down=True)).controller
    assert granted.registration[1].fenced and granted.partition.isr == frozenset({0})


def test_what_a_heartbeat_makes_of_a_broker_is_not_always_held() -> None:
    sibling = situation_of(CODE, replace(SETUP, sibling=KafkaPartition((2,), (2,), leader=2)))
    leaving = after(Heartbeat(0, want_shut_down=True))
    fenced = after(Fence(1))
    for now, step in (
        (sibling, Heartbeat(1, want_shut_down=True)),
        (leaving, Heartbeat(0, offline=(0,))),
        (fenced, Heartbeat(1, want_shut_down=True)),
    ):
        with pytest.raises(NotRepresentable):
            decide_step(now, step)


def test_a_fault_leaves_the_directory_as_it_is() -> None:
    """The last known leader is not a replica (F-62): the election in the record of the directory fails."""
    p = KafkaPartition((0, 1), (), (), (2,), leader=-1)
    for wants_fence in (False, True):
        error, now = decide_step(
            situation_of(CODE, replace(SETUP, partition=p)), Heartbeat(0, wants_fence, offline=(0,))
        )
        assert error == "UNKNOWN_SERVER_ERROR"
        assert (now.online[0], directory(now, 0)) == ((0, 1), Directory.ONLINE)


def test_a_deleted_value_of_the_topic_leaves_that_of_the_cluster() -> None:
    now = after(Configure("topic", None))
    assert configured_min_isr(now.controller.settings) == 1
    assert after(Configure("topic", None), Configure("topic", None)) == now


def test_with_elr_on_only_the_topics_value_can_be_deleted() -> None:
    for step in (Configure("cluster", None), Configure("broker", None, broker=1)):
        assert decide_step(after(), step)[0] == "INVALID_CONFIG"
        off = situation_of(CODE, replace(SETUP, elr=False))
        with pytest.raises(NotRepresentable):
            decide_step(off, step)


def test_the_effective_min_isr_is_that_of_partition_zero() -> None:
    setup = replace(SETUP, sibling=KafkaPartition((2,), (2,), leader=2))
    beside = situation_of(CODE, setup)
    assert (min_isr_in_effect(beside), min_isr_in_effect(after())) == (1, 2)
    assert decide_step(beside, Fence(1))[1].controller.partition.elr == frozenset()
    assert after(Fence(1)).controller.partition.elr == frozenset({1})


@pytest.mark.parametrize(("fewer", "beside", "class_"), [(1, True, "S0"), (1, False, None), (2, True, None)])
def test_a_record_is_not_repeated_for_an_entry_of_partition_zero(fewer: int, beside: bool, class_: str | None) -> None:
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
    disagreement = StepDisagreement(
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
    explained = class_of(disagreement)
    assert (None if explained is None else explained.id) == class_
