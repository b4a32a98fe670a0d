"""Several kafka.cluster.Partition of one broker: each is compared with the model of one partition.

No partition changes by an event of another. They share the clock, the metadata and the AlterPartition requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from elrcheck.kafka.broker_steps import (
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    Granted,
    Refused,
    Registered,
    Together,
    TogetherAnswer,
)
from elrcheck.kafka.conformance.broker.alter_requests import AlterRequests
from elrcheck.kafka.conformance.broker.broker_model import NOTHING_IN_FLIGHT, BrokerModel, answer_of, begin, decide
from elrcheck.kafka.conformance.broker.broker_part import BrokerDisagreement, Compared, compared, differing
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, Outcome
from elrcheck.kafka.kafka_oracle import BrokerOracle
from elrcheck.model.config import Config

TogetherWalk: TypeAlias = tuple[Together, ...]


class TogetherPart(KafkaPart[TogetherWalk, Sequence[TogetherAnswer]]):
    """Walks of a broker with several partitions, from the start of its process."""

    name = "broker"
    kafka = "kafka.cluster.Partition"
    in_files = False

    def ask(self, oracle: BrokerOracle, questions: Sequence[TogetherWalk]) -> Sequence[Sequence[TogetherAnswer]]:
        return oracle.together(questions)

    def compare(
        self, config: Config, question: TogetherWalk, answer: Sequence[TogetherAnswer], expected: None
    ) -> Iterator[Outcome]:
        """Compare the answers of each partition and the requests; an unexplained difference ends the walk."""
        held, requests = [begin(config, first) for first in beginnings(question[0])], AlterRequests()
        before = answer[0]
        for number, (event, kafka) in enumerate(zip(question[1:], answer[1:], strict=True), 2):
            walk = question[:number]
            for p, one in enumerate(kafka.partitions):
                model, differs, explanation, after = _compared(held[p], requests, event, p, one)
                if differs:
                    yield BrokerDisagreement(walk, before.partitions[p], one, model, differs, explanation, p)
                else:
                    yield Agreement.SAME
                if after is None:
                    return
                held[p] = after
            submitted = {p: one.sent for p, one in enumerate(kafka.partitions) if one.sent is not None}
            requests, sent = requests.after(event, submitted)
            if sent != kafka.requests:
                due = replace(kafka, requests=sent)
                yield BrokerDisagreement(walk, before.partitions[0], kafka, due, ("requests",), None)
                return
            yield Agreement.SAME
            before = kafka

    def smaller(self, disagreement: BrokerDisagreement) -> Iterator[TogetherWalk]:
        """Return the walk without one of its events, or without one of its partitions."""
        walk = [event for event in disagreement.events if isinstance(event, Together)]
        for at in range(1, len(walk) - 1):
            yield (*walk[:at], *walk[at + 1 :])
        for p in range(len(walk[0].events)) if len(walk[0].events) > 1 else ():
            others = (_with(event, (*event.events[:p], *event.events[p + 1 :])) for event in walk)
            yield tuple(event for event in others if any(event.events) or event.registered or event.error)


TOGETHER = TogetherPart()


def beginnings(first: Together) -> list[Beginning]:
    """Return the beginnings of all partitions."""
    starts = [event for event in first.events if isinstance(event, Beginning)]
    assert len(starts) == len(first.events), "a walk begins with a process"
    return starts


def happens(requests: AlterRequests, event: Together, p: int) -> tuple[BrokerEvent, ...]:
    """Return what happens to one partition: registrations come before its record."""
    first = () if event.registered is None else (Registered(event.registered),)
    one = event.events[p]
    if one is None or (isinstance(one, Granted | Refused) and p not in requests.in_flight):
        return first
    return (*first, one)


def unchanged(held: BrokerModel, requests: AlterRequests, event: Together, p: int) -> BrokerAnswer:
    """Return the answer of a partition to which nothing happens, if only because no request of it is in flight."""
    unanswered = event.events[p] is not None or (event.error is not None and not requests.in_flight)
    return answer_of(held, NOTHING_IN_FLIGHT if unanswered else "ok", None)


def _compared(held: BrokerModel, requests: AlterRequests, event: Together, p: int, kafka: BrokerAnswer) -> Compared:
    happened = happens(requests, event, p)
    if not happened:
        same = unchanged(held, requests, event, p)
        differs = differing(kafka, same)
        return same, differs, None, None if differs else held
    for earlier in happened[:-1]:
        held = decide(held, earlier)[1]
    return compared(held, happened[-1], kafka)


def _with(event: Together, events: tuple[BrokerEvent | None, ...]) -> Together:
    return Together(events, event.registered, event.error)
