"""An oracle without Java: the model answers as Kafka's classes would, under a configuration of its own.

With the configuration of the comparison it agrees in everything; with another one it plants a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.kafka.conformance.known_classes import min_isr_in_effect
from elrcheck.kafka.conformance.model_side import (
    NotRepresentable,
    Situation,
    built,
    configured,
    decide_step,
    registration_of,
    situation_of,
)
from elrcheck.kafka.controller_steps import CreateTopic, IndexAnswer, KafkaBroker, Register, Setup, Step, StepAnswer
from elrcheck.kafka.kafka_oracle import Walk
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import CreatePartitionEvent
from elrcheck.model.control_plane.creation import without_partition
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.state import Partition, Settings

RELEASES = {"1.0.0": "code_4_1", "1.0.1": "code_4_1", "1.0.2": "code_4_1"}


@lru_cache
def config_of(variant: str, *overrides: str) -> Config:
    return resolve(Selection(variant, "two-brokers", overrides)).config


def kafka_of(p: Partition, directories: tuple[int, ...] | None = None) -> KafkaPartition:
    """A partition of the model as Kafka's classes would register it, lists ascending."""
    return KafkaPartition(
        p.replicas,
        tuple(sorted(p.isr)),
        tuple(sorted(p.elr)),
        (-1,) if p.last_known_none else tuple(sorted(p.last_known_elr)),
        tuple(sorted(p.adding)),
        tuple(sorted(p.removing)),
        -1 if p.leader is None else p.leader,
        p.leader_epoch,
        p.partition_epoch,
        p.recovery.name,
        (0,) * len(p.replicas) if directories is None else directories,
    )


class FakeKafka:
    """Answers by the model under `config`. reverses: it writes every ISR in descending order."""

    def __init__(self, config: Config, version: str = "1.0.0", *, reverses: bool = False) -> None:
        self.config, self.version, self.reverses = config, version, reverses
        self.questions = 0

    def builder(self, questions: Sequence[BuilderQuestion]) -> list[BuilderAnswer]:
        self.questions += len(questions)
        return [self._built(question) for question in questions]

    def _built(self, question: BuilderQuestion) -> BuilderAnswer:
        try:
            after = kafka_of(built(self.config, question))
        except NotRepresentable:
            return BuilderAnswer(None)
        before = replace(question.partition, directories=after.directories)
        return BuilderAnswer(None if replace(after, isr=before.isr) == before else after)

    def index_walks(self, walks: Sequence[Walk]) -> list[list[tuple[StepAnswer, IndexAnswer]]]:
        """A controller without indexes has none that differs."""
        return [
            [(StepAnswer("NONE", None, setup.brokers, 0, setup.elr), IndexAnswer((), ()))] * len(steps)
            for setup, steps in walks
        ]

    def walks(self, walks: Sequence[Walk]) -> list[list[StepAnswer]]:
        return [self._walk(setup, tuple(steps)) for setup, steps in walks]

    def _walk(self, setup: Setup, steps: tuple[Step, ...]) -> list[StepAnswer]:
        self.questions += len(steps)
        now = situation_of(self.config, setup)
        assert setup.partition is not None
        brokers, isr = setup.brokers, setup.partition.isr
        answers = []
        for step in steps:
            before = now.controller.partition
            recorded = dict(zip(before.replicas, now.directories or (), strict=True))
            try:
                error, now = decide_step(now, step)
            except NotRepresentable:
                error = "INVALID_REQUEST"
            if now.directories is None:  # a replica that stays is where it was, a new one where it can be
                places = (recorded.get(b, now.online[b][0]) for b in now.controller.partition.replicas)
                now = replace(now, directories=tuple(places))
            brokers = _brokers(brokers, now, step)
            partition = kafka_of(now.controller.partition, now.directories)
            if self.reverses and before.isr != now.controller.partition.isr:
                isr = partition.isr[::-1]
            ordered = isr if frozenset(isr) == frozenset(partition.isr) else partition.isr
            settings = now.controller.settings
            least = min_isr_in_effect(now)
            isr = ordered
            answers.append(StepAnswer(error, replace(partition, isr=ordered), brokers, least, settings.elr_enabled))
        return answers


def _brokers(before: tuple[KafkaBroker, ...], now: Situation, step: Step) -> tuple[KafkaBroker, ...]:
    return tuple(
        replace(
            broker,
            epoch=broker.epoch + 1000 if isinstance(step, Register) and step.broker == broker.id else broker.epoch,
            registered=r.registered,
            fenced=r.fenced,
            in_controlled_shutdown=r.in_controlled_shutdown,
            directories=now.online[broker.id],
        )
        for broker, r in zip(before, now.controller.registration, strict=True)
    )


@contextmanager
def open_faithful(source: str) -> Iterator[FakeKafka]:
    """Answers as the variant of the release does."""
    yield FakeKafka(config_of(RELEASES[source]), source)


@contextmanager
def open_differing(source: str) -> Iterator[FakeKafka]:
    """The same, but every restart counts as unclean."""
    yield FakeKafka(config_of(RELEASES[source], "clean_check=ALWAYS_UNCLEAN"), source)


def created_topic(config: Config, setup: Setup, step: CreateTopic) -> tuple[str, Partition | None]:
    """A new topic in a cluster that has none."""
    registration = tuple(registration_of(broker) for broker in setup.brokers)
    settings = Settings(None, 1, tuple(None for _ in registration), setup.elr)
    before = without_partition(settings, registration)
    event = CreatePartitionEvent(step.replicas)
    decided = decide(configured(config, len(registration), False), before, event)
    partition = decided.controller.partition if decided.error == Error.NONE else None
    return decided.error.name, partition
