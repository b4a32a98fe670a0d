"""A whole QuorumController that writes records, does not commit them, and loses its leadership.

What it reverts to, and what it does afterwards, is what a controller does to which the lost events never happened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest

from elrcheck.kafka.conformance.controller_part import CONTROLLER
from elrcheck.kafka.conformance.index_walks import random_index_walk
from elrcheck.kafka.conformance.kafka_part import Agreement, key_of
from elrcheck.kafka.conformance.random_cases import random_walk
from elrcheck.kafka.controller_steps import (
    Expire,
    Fence,
    Heartbeat,
    IndexAnswer,
    KafkaBroker,
    Register,
    Setup,
    ShutDown,
    Step,
    StepAnswer,
    Unfence,
    Unregister,
)
from elrcheck.kafka.kafka_oracle import Walk, open_oracle
from elrcheck.kafka.partition_questions import KafkaPartition
from elrcheck.model.config import Config
from support.failovers import FailoverAnswers, FailoverWalk, failover_walks
from support.fake_kafka import config_of
from support.kafka_jars import jars_or_skip

pytestmark = pytest.mark.kafka

SETUP = Setup(
    (KafkaBroker(0), KafkaBroker(1, 101), KafkaBroker(2, 102)),
    KafkaPartition((0, 1, 2), (0, 1, 2), leader=0, directories=(0, 0, 0)),
    cluster_min_isr=2,
)
RELEASES = ("4.0.2", "4.1.2", "4.3.1", "4.4.0")
VARIANTS = {"4.0.2": "code_4_0", "4.1.2": "code_4_1"}


def with_expired_sessions(steps: Sequence[Step]) -> Iterator[Step]:
    """A controller's timer fences a broker before its next process registers."""
    for step in steps:
        if isinstance(step, Register):
            yield Expire(step.broker)
        yield step


def divided(walk: Walk, random: Random) -> FailoverWalk:
    """A walk whose middle is not committed when the controller loses its leadership."""
    setup, steps = walk[0], tuple(with_expired_sessions(walk[1]))
    first, last = sorted(random.sample(range(len(steps) + 1), 2))
    surviving = random.randrange(last - first + 1)
    return FailoverWalk(setup, steps[:first], steps[first:last], surviving, random.random() < 0.5, steps[last:])


def without_ids(answers: FailoverAnswers) -> list[tuple[StepAnswer, IndexAnswer]]:
    """The answers since the failover. The id of a topic, which an exception names, is random."""
    texts = [answer.failure and re.sub(r"Topic ID \S+", "Topic ID", answer.failure) for answer, _ in answers.later]
    return [
        (replace(answer, failure=text), indexes) for text, (answer, indexes) in zip(texts, answers.later, strict=True)
    ]


def without_the_lost(walk: FailoverWalk) -> FailoverWalk:
    """The same with everything committed at once, and a failover at the same place."""
    return replace(walk, committed=(*walk.committed, *walk.withheld[: walk.surviving]), withheld=(), surviving=0)


def test_a_lost_fencing_and_one_that_survives() -> None:
    walks = [FailoverWalk(SETUP, (), (Fence(0), Fence(1)), surviving, False, ()) for surviving in (0, 1, 2)]
    with open_oracle(jars_or_skip(), "live") as live:
        lost, one, both = failover_walks(live, walks)
    assert [answer.partition.isr for answer in lost.earlier if answer.partition] == [(1, 2), (2,)]
    isrs = [answers.later[0][0].partition for answers in (lost, one, both)]
    assert [p and p.isr for p in isrs] == [(0, 1, 2), (1, 2), (2,)]
    assert [p and p.partition_epoch for p in isrs] == [0, 1, 2]


def test_a_lost_registration_leaves_the_old_broker_epoch() -> None:
    steps = (Expire(1), Register(1, "none"))
    walks = [
        FailoverWalk(SETUP, (), steps, surviving, True, (Expire(1), Register(1, "last"))) for surviving in (0, 1, 2)
    ]
    with open_oracle(jars_or_skip(), "live") as live:
        answers = failover_walks(live, walks)
    epochs = [[answer.brokers[1].epoch for answer, _ in answer.later] for answer in answers]
    assert [of[0] for of in epochs] == [101, 101, 103] and [of[-1] for of in epochs] == [103, 103, 104]


def test_a_controller_that_resigns_on_a_fault_loses_what_it_had_not_committed() -> None:
    """An election of a broker that is no replica is a fault; the fencing before it is lost."""
    partition = KafkaPartition((1, 2), (1,), last_known_elr=(0,), directories=(0, 0))
    brokers = (KafkaBroker(0), KafkaBroker(1, 101, fenced=True), KafkaBroker(2, 102))
    setup = Setup(brokers, partition, topic_unclean=True)
    walk = FailoverWalk(setup, (), (Fence(2), Register(1, "none")), 0, False, ())
    with open_oracle(jars_or_skip(), "live") as live:
        (answers,) = failover_walks(live, [walk])
    fenced, fault = answers.earlier
    assert fenced.brokers[2].fenced
    assert fault.reply == ("RESIGNED",) and not fault.brokers[2].fenced and fault.partition == partition


def test_an_exception_is_answered_from_records_that_are_lost() -> None:
    """STALE_BROKER_EPOCH of a heartbeat comes at once, although the unregistration is not committed, and then lost."""
    walk = FailoverWalk(SETUP, (), (Unregister(1), Heartbeat(1)), 0, False, (Heartbeat(1),))
    with open_oracle(jars_or_skip(), "live") as live:
        (answers,) = failover_walks(live, [walk])
    assert answers.earlier[1].error == "STALE_BROKER_EPOCH"
    assert answers.later[0][0].brokers[1].registered and answers.later[1][0].error == "NONE"


def test_the_next_controller_does_not_know_which_offset_a_shutdown_waits_for() -> None:
    """A broker that leads nothing may stop at once, although the others have not read who leads now."""
    lagging = (Heartbeat(1, caught_up=False), Heartbeat(2, caught_up=False), Heartbeat(0, want_shut_down=True))
    waits = FailoverWalk(SETUP, (ShutDown(0),), (), 0, False, lagging)
    same = (SETUP, (Heartbeat(0, want_shut_down=True), *lagging))
    with open_oracle(jars_or_skip(), "live") as live:
        (answers,) = failover_walks(live, [waits])
        ((*_, without_failover),) = live.walks([same])
    assert "SHUT_DOWN" in answers.later[-1][0].reply
    assert "SHUT_DOWN" not in without_failover.reply


def cut(step: Step, records: int, *before: Step, after: tuple[Step, ...] = ()) -> FailoverWalk:
    """The first records of a step survive. Broker 0 leads two partitions of two replicas."""
    partition = KafkaPartition((0, 1), (0, 1), leader=0, directories=(0, 0))
    setup = Setup((KafkaBroker(0), KafkaBroker(1, 101)), partition, cluster_min_isr=1, sibling=partition)
    return FailoverWalk(setup, before, (step,), 0, False, after, records)


def leaders(answer: StepAnswer) -> tuple[int, ...]:
    assert answer.sibling is not None and answer.partition is not None
    return answer.sibling.leader, answer.partition.leader


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_what_is_left_of_an_event_of_which_one_record_survives(version: str) -> None:
    """As in the scope `cuts` of the model: the broker's record is the first of a shutdown and of an unfencing."""
    walks = [
        cut(ShutDown(0), 1, after=(Heartbeat(0, want_shut_down=True),)),
        cut(Fence(0), 1, Fence(1)),
        cut(Unfence(0), 1, Fence(1), Fence(0)),
        cut(Unregister(0), 1),
    ]
    with open_oracle(jars_or_skip(version), "live", records_of_a_batch=1) as live:
        shutdown, fencing, unfencing, unregistration = failover_walks(live, walks)
    (state, _), (resumed, _) = shutdown.later
    assert state.brokers[0].in_controlled_shutdown and leaders(state) == (0, 0), "M-3: it leads, and is not active"
    assert leaders(resumed) == (1, 1), "until its next heartbeat"
    state, _ = fencing.later[0]
    assert not state.brokers[0].fenced and sorted(leaders(state)) == [-1, 0], "M-4, P-20: it is active, and one waits"
    state, _ = unfencing.later[0]
    assert not state.brokers[0].fenced and leaders(state) == (-1, -1), "P-20: both wait for it"
    state, _ = unregistration.later[0]
    assert state.brokers[0].registered and sorted(leaders(state)) == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_a_controller_goes_on_as_if_the_lost_events_had_not_happened(version: str) -> None:
    """Walks over several topics: partitions, registrations, indexes, and the indexes that a snapshot gives."""
    random = Random(11)
    config = config_of(VARIANTS.get(version, "code_4_3"))
    walks = [divided(random_index_walk(config, random), random) for _ in range(400)]
    with open_oracle(jars_or_skip(version), "live") as live:
        losing = failover_walks(live, walks)
        others = failover_walks(live, [without_the_lost(walk) for walk in walks])
    counted: Counter[str] = Counter()
    for walk, answers, expected in zip(walks, losing, others, strict=True):
        if any("RESIGNED" in answer.reply for answer in answers.earlier[len(walk.committed) :]):
            counted["resigned before"] += 1
            continue
        assert without_ids(answers) == without_ids(expected), walk
        counted["lost"] += walk.surviving < len(walk.withheld)
        counted["answers"] += len(answers.later)
    print(version, dict(counted))
    assert counted["lost"] > 200


def outcomes_of(config: Config, walk: FailoverWalk, answers: FailoverAnswers) -> Iterator[str]:
    """The comparison of each event that is not lost with the model, which has no failover."""
    heard = (*answers.earlier[: len(walk.committed) + walk.surviving], *(answer for answer, _ in answers.later[1:]))
    question = walk.setup, (*walk.committed, *walk.withheld[: walk.surviving], *walk.after)
    for outcome in CONTROLLER.compare(config, question, heard, CONTROLLER.expect(config, question)):
        yield outcome.value if isinstance(outcome, Agreement) else key_of(outcome)


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_the_model_of_one_partition_goes_on_in_the_same_way(version: str) -> None:
    """It differs where it differs without losses: a timer fences a broker before its process registers."""
    random = Random(12)
    config = config_of(VARIANTS.get(version, "code_4_3"))
    walks = [divided(random_walk(config, random), random) for _ in range(400)]
    others = [without_the_lost(walk) for walk in walks]
    with open_oracle(jars_or_skip(version), "live") as live:
        answers, expected = failover_walks(live, walks), failover_walks(live, others)
    losing: Counter[str] = Counter()
    for walk, other, of_walk, of_other in zip(walks, others, answers, expected, strict=True):
        if any("RESIGNED" in answer.reply for answer in of_walk.earlier):
            continue
        outcomes = list(outcomes_of(config, walk, of_walk))
        assert outcomes == list(outcomes_of(config, other, of_other)), walk
        losing.update(outcomes)
    print(version, dict(losing))
    assert losing["same"] > 0.99 * losing.total() > 1000
