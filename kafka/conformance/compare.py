"""Questions put to both sides, and what becomes of a difference.

A walk is compared step by step in the states in which Kafka's classes are: where the two sides differ, the
model continues from Kafka's state, so that each difference is one of a single step. What the model answers
is worked out once for all versions of Kafka that a variant stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from elrcheck.kafka.conformance.model_side import Situation, Unheld, built, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.projections import (
    UNASSIGNED,
    Difference,
    builder_differences,
    directory_of,
    step_differences,
)
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step, StepAnswer
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition

Walk: TypeAlias = tuple[Setup, tuple[Step, ...]]
ModelWalk: TypeAlias = tuple[tuple[str, Situation], ...]


@dataclass(frozen=True, slots=True)
class BuilderDisagreement:
    """The change builder and the model's `change` differ."""

    config: Config
    question: BuilderQuestion
    answer: BuilderAnswer
    model: Partition
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class StepDisagreement:
    """The last of `steps` is answered differently.

    before, known: what Kafka had registered; now: the same to the model; error, model: its answer.
    """

    setup: Setup
    steps: tuple[Step, ...]
    before: KafkaPartition
    known: tuple[KafkaBroker, ...]
    answer: StepAnswer
    now: Situation
    error: str
    model: Situation
    differences: tuple[Difference, ...]

    @property
    def step(self) -> Step:
        return self.steps[-1]


Disagreement: TypeAlias = BuilderDisagreement | StepDisagreement


@dataclass(slots=True)
class Counted:
    """Answers that were compared, and those that were not because the model has no value for something."""

    compared: int = 0
    unheld: int = 0


# ---------------------------------------------------------------------------- the builder


def build_all(config: Config, asked: Sequence[BuilderQuestion]) -> list[Partition | None]:
    """The model's partition for each question; None where it holds no value for the question."""

    def one(question: BuilderQuestion) -> Partition | None:
        try:
            return built(config, question)
        except Unheld:
            return None

    return [one(question) for question in asked]


def compare_builder(
    config: Config,
    asked: Sequence[BuilderQuestion],
    expected: Sequence[Partition | None],
    answers: Sequence[BuilderAnswer],
    counted: Counted,
) -> Iterator[BuilderDisagreement]:
    """Every question in which the two sides differ."""
    for question, after, answer in zip(asked, expected, answers, strict=True):
        if after is None:
            counted.unheld += 1
            continue
        counted.compared += 1
        found = builder_differences(question.partition, answer, after)
        if found:
            yield BuilderDisagreement(config, question, answer, after, found)


# ---------------------------------------------------------------------------- walks


def follow(config: Config, walk: Walk) -> ModelWalk:
    """What the model answers step by step, as far as it holds a value for everything."""
    setup, steps = walk
    made: list[tuple[str, Situation]] = []
    try:
        now = situation_of(config, setup)
        for step in steps:
            error, now = decide_step(now, step)
            made.append((error, now))
    except Unheld:
        pass
    return tuple(made)


def compare_walk(
    config: Config, walk: Walk, expected: ModelWalk, answers: Sequence[StepAnswer], counted: Counted
) -> Iterator[StepDisagreement]:
    """Every step of a walk in which the two sides differ."""
    setup, steps = walk
    partition, brokers = setup.partition, setup.brokers
    assert partition is not None, "a walk has a partition"
    together = True
    try:
        now = situation_of(config, setup)
        for number, (step, answer) in enumerate(zip(steps, answers, strict=True), 1):
            try:
                error, after = expected[number - 1] if together and number <= len(expected) else decide_step(now, step)
            except Unheld:
                counted.unheld += 1
                together, after = False, _as_kafka(now, answer)
            else:
                counted.compared += 1
                found = step_differences(brokers, answer, now, error, after)
                if found:
                    yield StepDisagreement(setup, steps[:number], partition, brokers, answer, now, error, after, found)
                    together, after = False, _as_kafka(after, answer)
            assert answer.partition is not None, "a walk keeps its partition"
            partition, brokers = answer.partition, answer.brokers
            now = _seen(after, answer)
    except Unheld:
        counted.unheld += 1


def _seen(after: Situation, answer: StepAnswer) -> Situation:
    """With what the model does not work out: the directories of new replicas."""
    assert answer.partition is not None, "a walk keeps its partition"
    return after if after.directories else replace(after, directories=answer.partition.directories)


def _as_kafka(after: Situation, answer: StepAnswer) -> Situation:
    """The model in the state that Kafka's classes are in."""
    assert answer.partition is not None, "a walk keeps its partition"
    p = answer.partition
    places = p.directories or (0,) * len(p.replicas)
    recorded = dict(zip(p.replicas, places, strict=True))
    registration = tuple(
        replace(
            mine,
            registered=broker.registered,
            fenced=broker.fenced or not broker.registered,
            in_controlled_shutdown=broker.in_controlled_shutdown,
            directory=directory_of(recorded.get(broker.id, UNASSIGNED), broker),
        )
        for broker, mine in zip(answer.brokers, after.controller.registration, strict=True)
    )
    settings = replace(after.controller.settings, elr_enabled=answer.elr)
    held = Controller(settings, partition_of(p), registration)
    online = tuple(broker.directories for broker in answer.brokers)
    return replace(after, controller=held, directories=p.directories, online=online)
