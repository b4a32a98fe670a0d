"""Questions to Kafka's classes and their answers as JSON lines, of the records that both sides have.

A question says in "type" what it is; the Java side has a record of the same fields for each. Answers repeat a
lot, so what was read before is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, TypeVar

import msgspec

from elrcheck.kafka.asked import BuilderAnswer, BuilderQuestion, ReassignmentAnswer, ReassignmentQuestion
from elrcheck.kafka.broker_steps import BrokerAnswer, BrokerEvent
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer

T = TypeVar("T")
REMEMBERED = 1 << 16
SHOWN = 200
"""Characters of a line that is refused."""


class WireError(Exception):
    """A line that is not of the agreed shape: a bug of one of the two sides, or a damaged file."""


class AskBuilder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="Builder"):
    """A question to PartitionChangeBuilder."""

    question: BuilderQuestion


class AskReassignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="Reassignment"):
    """A question to PartitionReassignmentReplicas."""

    question: ReassignmentQuestion


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="Setup"):
    """A cluster, which the steps that follow begin with."""

    setup: Setup


ControllerLine: TypeAlias = AskBuilder | AskReassignment | Load | Step

_ENCODER = msgspec.json.Encoder()
_CONTROLLER: msgspec.json.Decoder[ControllerLine] = msgspec.json.Decoder(ControllerLine)
_BROKER: msgspec.json.Decoder[BrokerEvent] = msgspec.json.Decoder(BrokerEvent)
_BUILDER_ANSWER = msgspec.json.Decoder(BuilderAnswer)
_REASSIGNMENT_ANSWER = msgspec.json.Decoder(ReassignmentAnswer)
_STEP_ANSWER = msgspec.json.Decoder(StepAnswer)
_BROKER_ANSWER = msgspec.json.Decoder(BrokerAnswer)


def write(question: ControllerLine | BrokerEvent) -> bytes:
    """Write a question as one line."""
    return _ENCODER.encode(question)


def read_question(line: bytes) -> ControllerLine:
    """Read a question to the controller's classes."""
    return _read(_CONTROLLER, line)


@lru_cache(REMEMBERED)
def read_event(line: bytes) -> BrokerEvent:
    """Read an event of one broker."""
    return _read(_BROKER, line)


@lru_cache(REMEMBERED)
def read_builder(line: bytes) -> BuilderAnswer:
    """Read the answer of PartitionChangeBuilder."""
    return _read(_BUILDER_ANSWER, line)


def read_reassignment(line: bytes) -> ReassignmentAnswer:
    """Read the answer of PartitionReassignmentReplicas."""
    return _read(_REASSIGNMENT_ANSWER, line)


@lru_cache(REMEMBERED)
def read_step(line: bytes) -> StepAnswer:
    """Read the answer to a step."""
    return _read(_STEP_ANSWER, line)


@lru_cache(REMEMBERED)
def read_broker_answer(line: bytes) -> BrokerAnswer:
    """Read what one broker answered to an event."""
    return _read(_BROKER_ANSWER, line)


def reject_unusual(line: bytes, record: object) -> None:
    """WireError unless the record is written as this line: no field more, in the same order and notation."""
    if _ENCODER.encode(record) != line:
        raise WireError(f"not written as Kafka's side writes it: {line[:SHOWN]!r}")


def _read(decoder: msgspec.json.Decoder[T], line: bytes) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, ValueError) as fault:
        raise WireError(f"{fault}: {line[:SHOWN]!r}") from None
