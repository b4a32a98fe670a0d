"""A configuration of the model in the place of kafka.cluster.Partition: every difference is planted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.broker_steps import (
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    FollowerFetch,
    Proposed,
    Together,
    TogetherAnswer,
)
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.broker_model import BrokerModel, LagClock, answer_of, begin, decide
from elrcheck.kafka.conformance.broker_part import AlterRequests, Request, beginnings, happens, unchanged
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.model.config import Config
from elrcheck.results.conform_report import ConformReport


class StandIn:
    """Answers the walks of one broker as a configuration of the model does. clock: another rule of lag."""

    version = "0.0.0"

    def __init__(self, config: Config, clock: Callable[[int], LagClock] = LagClock) -> None:
        self.config, self.clock = config, clock

    def walks(self, walks: Sequence[Sequence[BrokerEvent]]) -> list[list[BrokerAnswer]]:
        return [self._walk(walk) for walk in walks]

    def _walk(self, walk: Sequence[BrokerEvent]) -> list[BrokerAnswer]:
        first = walk[0]
        assert isinstance(first, Beginning)
        held = replace(begin(self.config, first), clock=self.clock(first.lag))
        answers = [answer_of(held, "ok", None)]
        for event in walk[1:]:
            answer, held = decide(held, event)
            answers.append(answer)
        return answers

    def together(self, walks: Sequence[Sequence[Together]]) -> list[list[TogetherAnswer]]:
        return [list(self._together(walk)) for walk in walks]

    def _together(self, walk: Sequence[Together]) -> Iterator[TogetherAnswer]:
        held = [replace(begin(self.config, one), clock=self.clock(one.lag)) for one in beginnings(walk[0])]
        requests = AlterRequests()
        yield TogetherAnswer(tuple(answer_of(one, "ok", None) for one in held), ())
        for event in walk[1:]:
            answers = []
            for p, one in enumerate(held):
                answer, held[p] = self.happened(one, requests, event, p)
                answers.append(answer)
            submitted = {p: answer.sent for p, answer in enumerate(answers) if answer.sent is not None}
            requests, sent = self.requested(requests, event, submitted)
            yield TogetherAnswer(tuple(answers), sent)

    def happened(
        self, held: BrokerModel, requests: AlterRequests, event: Together, p: int
    ) -> tuple[BrokerAnswer, BrokerModel]:
        """Return the answer of one partition, and its model afterwards."""
        answer = unchanged(held, requests, event, p)
        for one in happens(requests, event, p):
            answer, held = decide(held, one)
        return answer, held

    def requested(
        self, requests: AlterRequests, event: Together, submitted: Mapping[int, Proposed]
    ) -> tuple[AlterRequests, tuple[Request, ...]]:
        """Return the requests after an event, and those that it sends."""
        return requests.after(event, submitted)


def compared_with(kafka: StandIn, model: Config, comparisons: int) -> ConformReport:
    """Compare the walks of a broker."""

    @contextlib.contextmanager
    def opener(source: str) -> Iterator[StandIn]:
        yield kafka

    request = ConformRequest(kafka=(kafka.version,), level="broker", comparisons=comparisons)
    return run_conform(request, [Team("code_4_1", model, (kafka.version,))], opener, Silent())


def fetch(follower: int, offset: int) -> FollowerFetch:
    """Return a fetch in leader epoch 1 from an offset of the log, by the process that ACTIVE registers."""
    return FollowerFetch(follower, 10 + follower, offset, 1, 1 if offset else -1)
