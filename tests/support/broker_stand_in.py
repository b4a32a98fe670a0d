"""A configuration of the model in the place of kafka.cluster.Partition: every difference is planted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent
from elrcheck.kafka.conformance.broker.broker_model import answer_of, begin, decide
from elrcheck.kafka.conformance.broker.lag import LagClock
from elrcheck.kafka.conformance.comparison import Team
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


def compared_with(kafka: StandIn, model: Config, comparisons: int) -> ConformReport:
    """Compare the walks of a broker."""

    @contextlib.contextmanager
    def opener(source: str) -> Iterator[StandIn]:
        yield kafka

    request = ConformRequest(kafka=(kafka.version,), level="broker", comparisons=comparisons)
    return run_conform(request, [Team("code_4_1", model, (kafka.version,))], opener, Silent())
