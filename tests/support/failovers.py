"""Walks of a live controller with a failover, asked of Kafka's controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elrcheck.kafka import wire
from elrcheck.kafka.controller_steps import IndexAnswer, Setup, Step, StepAnswer
from elrcheck.kafka.kafka_oracle import ControllerOracle


@dataclass(frozen=True, slots=True)
class FailoverWalk:
    """Steps of a live controller around a failover. The next one has the records of the first `surviving` withheld.

    before: the first controller has committed those before it lost its leadership; otherwise the other one does.
    records: how many records of the next withheld step survive besides, if batches are as small.
    """

    setup: Setup
    committed: tuple[Step, ...]
    withheld: tuple[Step, ...]
    surviving: int
    before: bool
    after: tuple[Step, ...]
    records: int = 0


@dataclass(frozen=True, slots=True)
class FailoverAnswers:
    """The answers to the steps before the failover; then the state after it and the later answers, with the indexes."""

    earlier: tuple[StepAnswer, ...]
    later: tuple[tuple[StepAnswer, IndexAnswer], ...]


def failover_walks(oracle: ControllerOracle, walks: Sequence[FailoverWalk]) -> list[FailoverAnswers]:
    """Ask live controllers for walks with a failover, with their indexes after it and after each later step."""
    questions: list[tuple[Setup, list[wire.ControllerLine]]] = []
    for walk in walks:
        later = [question for step in walk.after for question in (step, wire.AskIndexes())]
        failover = wire.FailOver(walk.surviving, walk.before, walk.records)
        around = (wire.Withhold(), *walk.withheld, failover, wire.AskIndexes())
        questions.append((walk.setup, [*walk.committed, *around, *later]))
    answers = []
    for walk, lines in zip(walks, oracle.walked(questions), strict=True):
        at = len(walk.committed) + 1 + len(walk.withheld)
        earlier = [*lines[: len(walk.committed)], *lines[len(walk.committed) + 1 : at]]
        later_answers = zip(lines[at::2], lines[at + 1 :: 2], strict=True)
        answers.append(
            FailoverAnswers(
                tuple(wire.STEP_ANSWERS.read(line) for line in earlier),
                tuple((wire.STEP_ANSWERS.read(a), wire.INDEX_ANSWERS.read(b)) for a, b in later_answers),
            )
        )
    return answers
