"""Kafka's own classes answer, and a state they are taken back to is as good as one made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.controller_steps import (
    AlterPartition,
    AssignDirectory,
    Configure,
    CreateTopic,
    Expire,
    Fence,
    Heartbeat,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    Setup,
    Step,
    StepAnswer,
    SwitchElr,
    Unregister,
)
from elrcheck.kafka.kafka_oracle import ControllerOracle, Walk, open_oracle
from elrcheck.kafka.partition_questions import MIGRATING, UNASSIGNED, BuilderAnswer, BuilderQuestion, KafkaPartition
from support.kafka_jars import OTHERS, jars_or_skip
from support.kafka_walks import random_question, random_walks

pytestmark = pytest.mark.kafka

ALL_IDS = (0, 1, 2)
THREE = KafkaPartition(ALL_IDS, ALL_IDS, leader=0, leader_epoch=3, partition_epoch=7, directories=(0, 0, 0))
BROKERS = (KafkaBroker(0), KafkaBroker(1, 101), KafkaBroker(2, 102))
SETUP = Setup(BROKERS, THREE, cluster_min_isr=2)


@pytest.fixture(scope="module")
def oracle() -> Iterator[ControllerOracle]:
    with open_oracle(jars_or_skip()) as running:
        yield running


def test_the_builder_makes_a_record_or_none(oracle: ControllerOracle) -> None:
    shrink = BuilderQuestion(THREE, (0, 1, 2), min_isr=2, target_isr=(0,))
    same = BuilderQuestion(THREE, (0, 1, 2), min_isr=2)
    shrunk = replace(THREE, isr=(0,), elr=(1, 2), partition_epoch=8)
    assert oracle.builder([shrink, same]) == [BuilderAnswer(shrunk), BuilderAnswer(None)]


def test_directories_and_stored_odd_values_come_back(oracle: ControllerOracle) -> None:
    odd = replace(THREE, isr=(0,), last_known_elr=(-1,), directories=(1, UNASSIGNED, MIGRATING))
    (answer,) = oracle.builder([BuilderQuestion(odd, (0, 1, 2), target_isr=(0, 1))])
    assert answer.partition is not None
    assert answer.partition.directories == odd.directories and answer.partition.isr == (0, 1)


def test_an_exception_of_the_builder_is_an_answer(oracle: ControllerOracle) -> None:
    old = BuilderQuestion(THREE, (0, 1, 2), min_isr=2, target_isr=(0,), metadata_version="3.6-IV2")
    (answer,) = oracle.builder([old])
    assert answer.partition is None and "UnsupportedVersion" in str(answer.failure)


def test_a_walk(oracle: ControllerOracle) -> None:
    steps: list[Step] = [Fence(0), Fence(1), Fence(2), Register(2, "none"), Register(1, "last")]
    (answers,) = oracle.walks([(SETUP, steps)])
    assert [answer.error for answer in answers] == ["NONE"] * 5
    partitions = [answer.partition for answer in answers if answer.partition is not None]
    assert [partition.isr for partition in partitions] == [(1, 2), (2,), (), (), ()]
    assert [partition.elr for partition in partitions] == [(), (1,), (1, 2), (1,), (1,)]
    assert [broker.epoch for broker in answers[-1].brokers] == [100, 104, 103]
    assert answers[-1].min_isr == 2 and answers[-1].elr


def test_every_walk_starts_from_its_own_setup(oracle: ControllerOracle) -> None:
    first = oracle.steps([(SETUP, Fence(0))])
    other = replace(SETUP, partition=replace(THREE, leader=2), elr=False, cluster_min_isr=1)
    oracle.walks([(other, [Unregister(0), Fence(1), Configure("topic", "3")])])
    assert oracle.steps([(SETUP, Fence(0)), (other, Fence(0)), (SETUP, Fence(0))])[::2] == first * 2


def test_errors_are_kafkas(oracle: ControllerOracle) -> None:
    members = (Member(0), Member(1))
    errors: dict[Step, str] = {
        AlterPartition(0, members): "NONE",
        AlterPartition(0, members, sender_epoch=-1): "STALE_BROKER_EPOCH",
        AlterPartition(0, members, leader_epoch=-1): "FENCED_LEADER_EPOCH",
        AlterPartition(0, members, partition_epoch=-1): "INVALID_UPDATE_VERSION",
        AlterPartition(0, (Member(0), Member(1, -1))): "INELIGIBLE_REPLICA",
        AlterPartition(0, (Member(0), Member(1, None))): "NONE",
        AlterPartition(1, members): "INVALID_REQUEST",
        Reassign(None): "NO_REASSIGNMENT_IN_PROGRESS",
        Reassign((0, 9)): "INVALID_REPLICA_ASSIGNMENT",
        Unregister(9): "BROKER_ID_NOT_REGISTERED",
        Heartbeat(9): "STALE_BROKER_EPOCH",
        CreateTopic((0, 1)): "TOPIC_ALREADY_EXISTS",
        Configure("broker", "2", broker=1): "INVALID_CONFIG",
    }
    answers = oracle.steps([(SETUP, step) for step in errors])
    assert [answer.error for answer in answers] == list(errors.values())


def test_partition_one_is_asked_about_if_there_is_a_partition_zero(oracle: ControllerOracle) -> None:
    setup = replace(SETUP, sibling=replace(THREE, replicas=(2, 1), isr=(2,), leader=2, directories=(0, 0)))
    (answer,) = oracle.steps([(setup, Fence(2))])
    assert answer.partition == replace(THREE, isr=(0, 1), leader_epoch=3, partition_epoch=8)
    assert answer.sibling is not None
    assert (answer.sibling.isr, answer.sibling.elr, answer.sibling.leader) == ((), (2,), -1)


def test_sessions_and_heartbeats(oracle: ControllerOracle) -> None:
    steps: list[Step] = [Heartbeat(0, want_shut_down=True), *(Heartbeat(id) for id in (1, 2)), Expire(1)]
    (answers,) = oracle.walks([(SETUP, [*steps, Heartbeat(0, want_shut_down=True)])])
    assert answers[0].reply == ("CAUGHT_UP", "IN_CONTROLLED_SHUTDOWN")
    assert answers[1].reply == ("CAUGHT_UP",)
    assert [broker.fenced for broker in answers[3].brokers] == [False, True, False]
    assert "SHUT_DOWN" in answers[4].reply


def test_directories(oracle: ControllerOracle) -> None:
    steps: list[Step] = [AssignDirectory(1, 1), Heartbeat(1, offline=(1,)), Register(1, directories=(0,))]
    (answers,) = oracle.walks([(SETUP, steps)])
    assert [answer.partition and answer.partition.directories for answer in answers[:2]] == [(0, 1, 0)] * 2
    assert answers[1].partition is not None and answers[1].partition.isr == (0, 2)
    assert answers[1].brokers[1].directories == (0,)


def test_the_feature_is_switched_as_kafka_does(oracle: ControllerOracle) -> None:
    setup = replace(SETUP, elr=False, cluster_min_isr=None)
    (answers,) = oracle.walks([(setup, [SwitchElr(True), SwitchElr(False)])])
    assert [answer.elr for answer in answers] == [True, False]


def test_a_topic_is_created(oracle: ControllerOracle) -> None:
    (answers,) = oracle.walks([(replace(SETUP, partition=None), [CreateTopic((2, 1)), Fence(2)])])
    assert [answer.partition and answer.partition.isr for answer in answers] == [(2, 1), (1,)]


def test_a_question_that_is_not_understood_is_a_fault_of_the_caller(oracle: ControllerOracle) -> None:
    misfit = replace(THREE, directories=(0,))
    with open_oracle(jars_or_skip()) as own, pytest.raises(EnvironmentFault, match="exit code 3") as caught:
        own.builder([BuilderQuestion(misfit, ())])
    assert "not as many directories as replicas" in str(caught.value.excerpt)


@pytest.mark.slow
def test_taken_back_is_as_good_as_made_anew(oracle: ControllerOracle) -> None:
    walks = [walk for walk in random_walks(1, 60, 12) for _ in range(2)]
    walks += [(walks[0][0], [step]) for walk in walks for step in walk[1][:1]]
    with open_oracle(jars_or_skip(), "fresh") as anew:
        assert oracle.walks(walks) == anew.walks(walks)


def as_managers_answer(answers: list[list[StepAnswer]]) -> list[list[StepAnswer]]:
    """Without the word that only a whole controller can say."""
    return [
        [replace(step, reply=tuple(word for word in step.reply if word != "RESIGNED")) for step in walk]
        for walk in answers
    ]


def as_controllers_can_be_asked(walks: list[Walk]) -> list[Walk]:
    """Without registrations: a controller's timer fences the broker first."""
    return [(setup, [step for step in steps if not isinstance(step, Register)]) for setup, steps in walks]


@pytest.mark.slow
def test_a_whole_controller_with_its_event_queue_answers_the_same(oracle: ControllerOracle) -> None:
    walks = as_controllers_can_be_asked(random_walks(2, 40, 10))
    with open_oracle(jars_or_skip(), "live") as live:
        assert as_managers_answer(live.walks(walks)) == as_managers_answer(oracle.walks(walks))


def test_a_fault_makes_a_whole_controller_resign() -> None:
    """An exception that is not an error of the protocol; the controller becomes active again and answers."""
    partition = KafkaPartition((1, 2), (1,), last_known_elr=(0,), directories=(0, 0))
    brokers = (KafkaBroker(0), KafkaBroker(1, 101, fenced=True), KafkaBroker(2, 102, fenced=True))
    setup = Setup(brokers, partition, topic_unclean=True)
    with open_oracle(jars_or_skip(), "live") as live:
        ((fault, after),) = live.walks([(setup, [Register(1, "none"), Fence(0)])])
    assert (fault.error, fault.reply, fault.partition) == ("UNKNOWN_SERVER_ERROR", ("RESIGNED",), partition)
    assert "not assigned to this partition" in str(fault.failure)
    assert (after.error, after.brokers[0].fenced) == ("NONE", True)


@pytest.mark.slow
def test_the_walks_of_that_test_ask_everything() -> None:
    kinds = {type(step) for _, steps in random_walks(1, 60, 12) for step in steps}
    assert kinds == set(get_args(Step))


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_other_releases(version: str) -> None:
    """It says which release it is, is asked everything, and does not depend on what was asked before."""
    class_path = jars_or_skip(version)
    walks = random_walks(7, 2000, 15)
    random = Random(7)
    questions = [random_question(random) for _ in range(5000)]
    with open_oracle(class_path) as reused, open_oracle(class_path, "fresh") as anew:
        assert reused.version == version
        answers = reused.walks(walks)
        assert answers == anew.walks(walks)
        assert reused.walks(walks[::-1])[::-1] == answers
        single = [(setup, step) for setup, steps in walks for step in steps]
        assert reused.steps(single) == anew.steps(single)
        assert reused.builder(questions) == anew.builder(questions)
    if version >= "4":
        few = as_controllers_can_be_asked(walks[:300])
        with open_oracle(class_path) as reused, open_oracle(class_path, "live") as live:
            assert as_managers_answer(live.walks(few)) == as_managers_answer(reused.walks(few))
    errors = {answer.error for walk in answers for answer in walk}
    assert {"NONE", "INELIGIBLE_REPLICA", "STALE_BROKER_EPOCH", "NO_REASSIGNMENT_IN_PROGRESS"} <= errors
