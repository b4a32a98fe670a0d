"""The sides of Kafka that are compared with the model: its controller, a broker that leads, one that follows.

A new side is a part (`kafka_part`), its questions in `block`, and an entry here; a record of comparisons, files of
answers and the README's table then have it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.catalogue.evidence.conformance import Level, Side
from elrcheck.kafka.conformance import model_side
from elrcheck.kafka.conformance.broker import broker_model
from elrcheck.kafka.conformance.broker.broker_part import BROKER
from elrcheck.kafka.conformance.follower_part import FOLLOWER, truncated
from elrcheck.kafka.conformance.kafka_source import open_broker, open_follower, open_kafka
from elrcheck.kafka.kafka_oracle import LineOracle


@dataclass(frozen=True)
class ComparedSide:
    """open: starts Kafka's classes of a source. rules: the functions that compute the model's answers.

    apart: the name of Kafka's class, if releases are compared one after the other, in this process; None if the
    releases of a variant are compared together.
    """

    open: Callable[..., AbstractContextManager[LineOracle]]
    rules: tuple[Callable[..., Any], ...]
    apart: str | None = None


SIDES: dict[Side, ComparedSide] = {
    "controller": ComparedSide(open_kafka, (model_side.situation_of, model_side.built, model_side.decide_step)),
    "broker": ComparedSide(open_broker, (broker_model.begin, broker_model.decide), BROKER.kafka),
    "follower": ComparedSide(open_follower, (truncated,), FOLLOWER.kafka),
}


def side_of(request: ConformRequest) -> Side:
    """Return the side of Kafka that a request compares."""
    match request.level:
        case "broker" | "follower" as side:
            return side
        case _:
            return "controller"


def level_of(request: ConformRequest) -> Level | None:
    """Return the part of the controller to which a request is limited."""
    match request.level:
        case "builder" | "controller" as level:
            return level
        case _:
            return None
