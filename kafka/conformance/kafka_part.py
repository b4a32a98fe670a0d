"""A part of Kafka that is compared with the model, and the outcomes of a comparison.

There are seven, in `controller_part` (three), `index_part`, `broker_part` (two) and `follower_part`. Each defines how
to ask Kafka, what the model expects, how to compare the two, and which questions are slightly smaller.
`differences.toml` says what is not compared, and which differences are known.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from elrcheck.base.documents import read_toml
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import read_record
from elrcheck.catalogue.evidence.conformance import Side
from elrcheck.model.config import Config
from elrcheck.results.conform_report import ProjectionReport

Q = TypeVar("Q")
A = TypeVar("A")
MOST_ROUNDS = 60
"""Rounds of shrinking a question."""


class Oracle(Protocol):
    """Kafka's classes of one version; each part knows the other methods of its oracle."""

    @property
    def version(self) -> str:
        """The version of Kafka that answers, as its jars report it."""
        ...


class Agreement(Enum):
    """An answer without a difference. UNHELD: the model cannot represent something in it, so nothing is compared."""

    SAME = "same"
    UNHELD = "unheld"


@dataclass(frozen=True)
class KnownClass:
    """A difference that is explained.

    what: the difference; why: why the model stays as it is; source: where Kafka does it.
    """

    id: str
    what: str
    why: str
    source: str


class Disagreement(Protocol):
    """An answer in which Kafka and the model differ."""

    @property
    def known_class(self) -> KnownClass | None:
        """The class that explains it."""
        ...

    @property
    def signature(self) -> str:
        """The event and the fields that differ, by which unexplained differences are grouped."""
        ...

    @property
    def rank(self) -> tuple[int, ...]:
        """The order of examples: the one that is easiest to read first."""
        ...


Outcome: TypeAlias = Disagreement | Agreement


def key_of(disagreement: Disagreement) -> str:
    """Return the key under which a difference is counted: the id of its class, or its signature."""
    known_class = disagreement.known_class
    return disagreement.signature if known_class is None else known_class.id


class KafkaPart(ABC, Generic[Q, A]):
    """A part of Kafka. name: under which its answers are counted; kafka, other: how a report calls both sides.

    in_files: files of answers have them.
    """

    name: ClassVar[str]
    kafka: ClassVar[str] = "Kafka's classes"
    other: ClassVar[str] = "the model"
    in_files: ClassVar[bool] = True

    def expect(self, config: Config, question: Q) -> Any:
        """Return the model's answers that do not depend on Kafka's; they are the same for all versions."""
        return None

    @abstractmethod
    def ask(self, oracle: Any, questions: Sequence[Q]) -> Sequence[A]:
        """Return the answers of one version of Kafka."""

    @abstractmethod
    def compare(self, config: Config, question: Q, answer: A, expected: Any) -> Iterator[Outcome]:
        """Compare Kafka's answer with the model's, event by event."""

    def smaller(self, disagreement: Any) -> Iterator[Q]:
        """Return slightly smaller questions that may show the same difference."""
        return iter(())

    def disagreements(self, config: Config, question: Q, answer: A) -> Iterator[Disagreement]:
        """Return the differences between an answer and the model."""
        outcomes = self.compare(config, question, answer, self.expect(config, question))
        return (outcome for outcome in outcomes if not isinstance(outcome, Agreement))

    def shrunk(self, config: Config, disagreement: Disagreement, oracle: Oracle) -> Disagreement:
        """Return the same difference in a smallest question: delta debugging against both sides.

        A smaller question counts if a difference of the same key appears in it, at its end or before. Every round asks
        Kafka all smaller questions at once.
        """
        key = key_of(disagreement)
        for _ in range(MOST_ROUNDS):
            questions = list(self.smaller(disagreement))
            answers = self.ask(oracle, questions)
            others = (
                other
                for question, answer in zip(questions, answers, strict=True)
                for other in self.disagreements(config, question, answer)
                if key_of(other) == key
            )
            better = next(others, None)
            if better is None:
                break
            disagreement = better
        return disagreement


@functools.cache
def known_class(ident: str) -> KnownClass:
    """Return the known difference with this id."""
    (row,) = (row for row in _table()["class"].items() if row["id"].text() == ident)
    return read_record(row, KnownClass)


@functools.cache
def projections(side: Side) -> tuple[ProjectionReport, ...]:
    """Return the parts of an answer of a side that are not compared, and why that is no difference in behaviour."""
    rows = [row for row in _table()["projection"].items() if row["side"].text() == side]
    return tuple(ProjectionReport(row["name"].text(), row["what"].text(), row["why"].text()) for row in rows)


@functools.cache
def _table() -> Node:
    return read_toml(files("elrcheck.kafka.conformance") / "differences.toml").object(("projection", "class"))
