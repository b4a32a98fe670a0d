"""Several partitions of one broker: each is the model of one partition, and they share what they share in Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.kafka.broker_steps import (
    Append,
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    Granted,
    LookForLag,
    Metadata,
    Proposed,
    Refused,
    Together,
    TogetherAnswer,
    Wait,
)
from elrcheck.kafka.conformance.block import VersionResult
from elrcheck.kafka.conformance.broker_model import BrokerModel, answer_of, begin
from elrcheck.kafka.conformance.broker_part import BROKER, TOGETHER, AlterRequests, BrokerDisagreement, Request
from elrcheck.kafka.conformance.broker_walks import ACTIVE, TOLERANCE, together_walk
from elrcheck.kafka.conformance.broker_walks import ALL as EVERYBODY
from elrcheck.kafka.conformance.example_text import example_of
from elrcheck.kafka.conformance.kafka_part import known_class
from elrcheck.kafka.kafka_oracle import BrokerOracle
from elrcheck.model.choices import AlterReject
from support.broker_stand_in import StandIn, fetch

CODE = resolve(Selection("code_4_1", "two-brokers")).config
LEADS = Metadata(1, 1, 1, EVERYBODY, EVERYBODY)
FENCED = tuple((b, epoch, "fenced" if b == 2 else state) for b, epoch, state in ACTIVE.brokers)


def all_three(event: BrokerEvent) -> Together:
    return Together((event,) * 3)


LAG = (
    all_three(Beginning(1, 11, 1, TOLERANCE)),
    Together((LEADS,) * 3, ACTIVE.brokers),
    all_three(Append(-1)),
    Together((fetch(0, 1), fetch(0, 1), fetch(0, 0))),
    all_three(Wait(TOLERANCE + 1)),
    all_three(LookForLag()),
)
"""Follower 0 lags in partition 2 only, follower 2 in all; partition 2 sends its request first."""


def sent(partition: int, *members: int) -> tuple[int, Proposed]:
    return partition, Proposed(1, 1, tuple((b, 10 + b if b < 2 else -1) for b in members))


def unexplained(kafka: StandIn, walks: int) -> list[BrokerDisagreement]:
    """Return what differs in walks of several partitions."""
    questions = [together_walk(CODE, 5, number) for number in range(walks)]
    return [
        one
        for walk, answers in zip(questions, kafka.together(questions), strict=True)
        for one in TOGETHER.disagreements(CODE, walk, answers)
        if isinstance(one, BrokerDisagreement) and one.known_class is None
    ]


class Leaking(StandIn):
    """An answer to the first partition ends the proposal of the second as well."""

    def happened(
        self, held: BrokerModel, requests: AlterRequests, event: Together, p: int
    ) -> tuple[BrokerAnswer, BrokerModel]:
        first = event.events[0]
        if p == 1 and isinstance(first, Refused) and event.events[1] is None and {0, 1} <= requests.in_flight:
            event = Together((None, first, *event.events[2:]))
        return super().happened(held, requests, event, p)


class Alone(StandIn):
    """Every request has one partition."""

    def requested(
        self, requests: AlterRequests, event: Together, submitted: Mapping[int, Proposed]
    ) -> tuple[AlterRequests, tuple[Request, ...]]:
        after, messages = super().requested(requests, event, submitted)
        if not messages or len(messages[0]) == 1:
            return after, messages
        return replace(after, in_flight=frozenset({messages[0][0][0]})), (messages[0][:1],)


@pytest.mark.slow
def test_the_same_rules_do_not_differ() -> None:
    assert unexplained(StandIn(CODE), 60) == []


@pytest.mark.slow
def test_a_partition_that_hears_the_answer_of_another_is_found() -> None:
    assert {one.partition for one in unexplained(Leaking(CODE), 150)} == {1}


@pytest.mark.slow
def test_a_request_that_leaves_a_partition_out_is_found() -> None:
    one, *_ = unexplained(Alone(CODE), 100)
    assert one.differs == ("requests",)


@pytest.mark.slow
def test_a_changed_rule_is_found_and_shrunk() -> None:
    kafka = StandIn(replace(CODE, alter_reject=AlterReject.ROLLBACK))
    smallest = TOGETHER.shrunk(CODE, unexplained(kafka, 60)[0], kafka)  # type: ignore[arg-type]
    text = example_of(smallest, "elrcheck conform", "code_4_1")
    assert "1 partitions" in text.setup[0] and len(text.events) <= 8


def test_an_example_is_shrunk_by_the_part_that_asked_it() -> None:
    """A class has one group, whether one partition was asked or several: the shortest walk of one is its example."""
    explained = known_class("watermark-waits")
    state = answer_of(begin(CODE, Beginning(1, 11, 1)), "ok", None)
    single = BrokerDisagreement((Beginning(1, 11, 1),) * 3, state, state, state, ("high_watermark",), explained)
    result = VersionResult("0.0.0")
    result.note(TOGETHER, replace(single, events=LAG[:1]))
    result.note(BROKER, single)
    result.note(TOGETHER, replace(single, events=LAG[:2]))
    (group,) = result.groups.values()
    assert (group.part, group.example, group.count) == (BROKER, single, 3)


def test_a_walk_begins_with_two_or_three_partitions_and_depends_on_its_number_only() -> None:
    walks = [together_walk(CODE, 7, number) for number in range(8)]
    assert {len(walk[0].events) for walk in walks} == {2, 3}
    assert walks[3] == together_walk(CODE, 7, 3) != walks[4]


# ---------------------------------------------------------------------------- Kafka


def answers_of(broker: BrokerOracle, walk: tuple[Together, ...]) -> list[TogetherAnswer]:
    """Return Kafka's answers, which have to be the model's as well."""
    answers = broker.together([walk])[0]
    assert [one for one in TOGETHER.disagreements(CODE, walk, answers) if one.known_class is None] == []
    return answers


@pytest.mark.slow
@pytest.mark.kafka
def test_one_request_carries_two_partitions_and_its_answer_grants_one(broker: BrokerOracle) -> None:
    walk = (
        *LAG,
        Together((Granted(1, 2, (0, 1)), None, None)),
        Together((None, None, Granted(1, 2, (1,)))),
        Together((None,) * 3, error="STALE_BROKER_EPOCH"),
        Together((Granted(1, 2, (0, 1)), Refused("INELIGIBLE_REPLICA"), None)),
    )
    answers = answers_of(broker, walk)
    both = (sent(0, 0, 1), sent(1, 0, 1))
    assert [answer.requests for answer in answers[5:]] == [((sent(2, 1),),), (), (both,), (both,), ()]
    assert [one.outcome for one in answers[6].partitions] == ["nothing-in-flight", "ok", "ok"]
    assert [one.isr for one in answers[-1].partitions] == [(0, 1), EVERYBODY, (1,)]
    assert [one.in_flight for one in answers[-1].partitions] == [False, False, False]


@pytest.mark.slow
@pytest.mark.kafka
def test_a_fenced_broker_leaves_the_isr_of_all_partitions_in_one_delta(broker: BrokerOracle) -> None:
    walk = (
        *LAG[:3],
        Together((fetch(0, 1), fetch(0, 1), None)),
        Together((Metadata(1, 1, 2, EVERYBODY, (0, 1)),) * 3, FENCED),  # type: ignore[arg-type]
    )
    last = answers_of(broker, walk)[-1].partitions
    assert [(one.isr, one.high_watermark) for one in last] == [((0, 1), 1), ((0, 1), 1), ((0, 1), 0)]


@pytest.mark.slow
@pytest.mark.kafka
def test_random_walks_do_not_differ(broker: BrokerOracle) -> None:
    walks = [together_walk(CODE, 21, number) for number in range(100)]
    messages = [0] * 4
    for walk, answers in zip(walks, broker.together(walks), strict=True):
        assert [one for one in TOGETHER.disagreements(CODE, walk, answers) if one.known_class is None] == []
        for answer in answers:
            for message in answer.requests:
                messages[len(message)] += 1
    assert messages[1] > 100 and messages[2] > 10
