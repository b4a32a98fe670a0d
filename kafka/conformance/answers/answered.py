"""The model compared with answers of Kafka that were kept in files.

`AnsweredCase` is one question or one walk with Kafka's answers. `differences` of it are those without a known
reason; a model of which no rule was changed has none in the packaged files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.requests import Selection
from elrcheck.catalogue.select import resolve
from elrcheck.kafka.answer_file import SUFFIX, Answers, read_answers
from elrcheck.kafka.broker_steps import BrokerAnswer, BrokerEvent
from elrcheck.kafka.conformance.broker.broker_compare import BrokerDisagreement, compare
from elrcheck.kafka.conformance.compare import Counted, Disagreement, build_all, compare_builder, compare_walk, follow
from elrcheck.kafka.conformance.kafka_source import SCOPE, variant_of
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion
from elrcheck.model.config import Config

PACKAGED = "packaged"


@dataclass(frozen=True, slots=True)
class BuilderCase:
    """A question to PartitionChangeBuilder."""

    question: BuilderQuestion
    answer: BuilderAnswer

    def compared(self, config: Config, counted: Counted) -> Iterator[Disagreement]:
        asked = [self.question]
        return compare_builder(config, asked, build_all(config, asked), [self.answer], counted)


@dataclass(frozen=True, slots=True)
class WalkCase:
    """Events of a controller."""

    setup: Setup
    steps: tuple[Step, ...]
    answers: tuple[StepAnswer, ...]

    def compared(self, config: Config, counted: Counted) -> Iterator[Disagreement]:
        walk = self.setup, self.steps
        return compare_walk(config, walk, follow(config, walk), self.answers, counted)


@dataclass(frozen=True, slots=True)
class BrokerCase:
    """Events of one broker."""

    events: tuple[BrokerEvent, ...]
    answers: tuple[BrokerAnswer, ...]

    def compared(self, config: Config, counted: Counted) -> Iterator[BrokerDisagreement]:
        for found in compare(config, self.events, self.answers):
            counted.compared += 1
            if found is not None:
                yield found


AnsweredCase: TypeAlias = BuilderCase | WalkCase | BrokerCase


@dataclass(frozen=True)
class AnsweredRelease:
    """A file of answers, and the configuration of the model that stands for the release."""

    answers: Answers
    variant: str
    config: Config
    where: str

    def cases(self) -> Iterator[AnsweredCase]:
        """Everything in the file, question by question and walk by walk."""
        for question, answer in self.answers.builder:
            yield BuilderCase(question, answer)
        for setup, steps, answers in self.answers.walks:
            yield WalkCase(setup, tuple(steps), tuple(answers))
        for events, event_answers in self.answers.broker:
            yield BrokerCase(tuple(events), tuple(event_answers))


def releases_of(request: ConformRequest) -> list[AnsweredRelease]:
    """The files that a request names, each with the variant of its release or the one that is asked for."""
    found: list[AnsweredRelease] = []
    for name in request.answers:
        for where, data in _packaged_files() if name == PACKAGED else (_own_file(Path(name)),):
            answers = read_answers(data, where)
            variant = request.variant or variant_of(answers.kafka)
            selected = resolve(Selection(variant, SCOPE, request.overrides))
            config = replace(selected.config, spare_brokers=0)
            found.append(AnsweredRelease(answers, variant, config, where))
    return found


@cache
def packaged_releases() -> tuple[AnsweredRelease, ...]:
    """The packaged files."""
    return tuple(releases_of(ConformRequest(answers=(PACKAGED,))))


def _packaged_files() -> Iterator[tuple[str, bytes]]:
    folder = files("elrcheck.catalogue") / "answers"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            yield file.name, file.read_bytes()


def _own_file(path: Path) -> tuple[str, bytes]:
    try:
        return str(path), path.read_bytes()
    except OSError as fault:
        raise EnvironmentFault(
            "cannot-read",
            f"cannot read {path}: {fault.strerror}",
            help=f"give a file, or `{PACKAGED}` for those that come with elrcheck",
        ) from fault
