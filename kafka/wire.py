"""Questions to Kafka's classes and their answers as JSON lines, of records that both sides define.

"type" says which question it is; the Java side has a record of the same fields for each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from elrcheck.kafka.broker_steps import AskTruncation, BrokerAnswer, BrokerEvent, TogetherAnswer, Truncated
from elrcheck.kafka.controller_steps import IndexAnswer, Setup, Step, StepAnswer
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion, Tagged

T = TypeVar("T")
REMEMBERED = 1 << 16
EXCERPT_LENGTH = 200
"""Characters of a line that is refused."""


class WireError(Exception):
    """A malformed line: a bug of one of the two sides, or a damaged file."""


class AskBuilder(Tagged, frozen=True, tag="Builder"):
    """A question to PartitionChangeBuilder."""

    question: BuilderQuestion


class Load(Tagged, frozen=True, tag="Setup"):
    """A cluster, with which the steps that follow begin."""

    setup: Setup


class AskIndexes(Tagged, frozen=True, tag="Indexes"):
    """What the indexes of the controller hold now."""


class Withhold(Tagged, frozen=True):
    """From now on a live controller's records are not committed."""


class FailOver(Tagged, frozen=True):
    """Another controller is active for a while, which has the records of the first steps since commits were withheld.

    surviving: how many steps; records: how many of the next step besides. before: the first controller has committed
    them; otherwise the other one does.
    """

    surviving: int
    before: bool
    records: int


ModelLine: TypeAlias = AskBuilder | Load | Step
"""A question that the model answers too."""
ControllerLine: TypeAlias = ModelLine | AskIndexes | Withhold | FailOver
write = msgspec.json.Encoder().encode
"""Write a question as one line."""


class Lines(Generic[T]):
    """Lines of one kind; cached, because answers often repeat."""

    def __init__(self, kind: Any) -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)
        self._remembered = lru_cache(REMEMBERED)(self._decoded)

    def read(self, line: bytes) -> T:
        """Read a line; WireError unless it is written exactly as `write` does: no field more, in the same order."""
        return self._remembered(line)

    def _decoded(self, line: bytes) -> T:
        try:
            record = self._decoder.decode(line)
        except (msgspec.DecodeError, ValueError) as fault:
            raise WireError(f"{fault}: {line[:EXCERPT_LENGTH]!r}") from None
        if write(record) != line:
            raise WireError(f"not written as Kafka's side writes it: {line[:EXCERPT_LENGTH]!r}")
        return record


QUESTIONS: Lines[ModelLine] = Lines(ModelLine)
EVENTS: Lines[BrokerEvent] = Lines(BrokerEvent)
BUILDER_ANSWERS: Lines[BuilderAnswer] = Lines(BuilderAnswer)
INDEX_ANSWERS: Lines[IndexAnswer] = Lines(IndexAnswer)
STEP_ANSWERS: Lines[StepAnswer] = Lines(StepAnswer)
BROKER_ANSWERS: Lines[BrokerAnswer] = Lines(BrokerAnswer)
TOGETHER_ANSWERS: Lines[TogetherAnswer] = Lines(TogetherAnswer)
TRUNCATIONS: Lines[AskTruncation] = Lines(AskTruncation)
TRUNCATED: Lines[Truncated] = Lines(Truncated)
