"""Compares the model with stored answers of Kafka.

With unchanged rules, every difference from the packaged files has a known reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.kafka.answer_file import SUFFIX, Answers, read_answers
from elrcheck.kafka.conformance.broker.broker_part import BROKER
from elrcheck.kafka.conformance.builder_part import BUILDER
from elrcheck.kafka.conformance.controller_part import CONTROLLER
from elrcheck.kafka.conformance.follower_part import FOLLOWER
from elrcheck.kafka.conformance.kafka_part import KafkaPart, Outcome
from elrcheck.kafka.conformance.kafka_source import config_of, variant_of
from elrcheck.model.config import Config

PACKAGED = "packaged"


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """One question or one walk with Kafka's answers."""

    part: KafkaPart[Any, Any]
    question: Any
    answer: Any

    def outcomes(self, config: Config) -> Iterator[Outcome]:
        """Compare the answers with the model's."""
        expected = self.part.expect(config, self.question)
        return self.part.compare(config, self.question, self.answer, expected)


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
            yield AnsweredCase(BUILDER, question, answer)
        for setup, steps, step_answers in self.answers.walks:
            yield AnsweredCase(CONTROLLER, (setup, tuple(steps)), step_answers)
        for events, event_answers in self.answers.broker:
            yield AnsweredCase(BROKER, tuple(events), event_answers)
        for truncation, log_end in self.answers.truncations:
            yield AnsweredCase(FOLLOWER, truncation, log_end)


def releases_of(request: ConformRequest) -> list[AnsweredRelease]:
    """Read the files that a request names, each with the variant of its release or the requested one."""
    releases: list[AnsweredRelease] = []
    for name in request.answers:
        for where, data in _packaged_files() if name == PACKAGED else (_own_file(Path(name)),):
            answers = read_answers(data, where)
            variant = request.variant or variant_of(answers.kafka)
            releases.append(AnsweredRelease(answers, variant, config_of(variant, request), where))
    return releases


def _packaged_files() -> Iterator[tuple[str, bytes]]:
    folder = files("elrcheck.catalogue") / "answers"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            yield file.name, file.read_bytes()


def _own_file(path: Path) -> tuple[str, bytes]:
    try:
        return str(path), path.read_bytes()
    except OSError as fault:
        raise UsageFault(
            "answers-damaged",
            f"cannot read the file: {fault.strerror or fault}",
            where=str(path),
            help=f"give a file, or `{PACKAGED}` for those that come with elrcheck",
        ) from fault
