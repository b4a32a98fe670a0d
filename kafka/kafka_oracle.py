"""Kafka's classes of one version, called by a Java process.

    with open_oracle(class_path) as oracle:
        answers = oracle.builder(questions)

Questions are answered in batches, each in its place. `walks` starts every walk from its own setup, or from its own
broker process, and answers each of its steps. A setup that Kafka's classes refuse is a bug of the caller and raises
ValueError.

The managers of a controller are created once and reset to an earlier state for every setup ("kept"), which is fast. To
check that, each setup can have managers of its own ("fresh"), or a whole QuorumController ("live") with its event
queue, its timer for stale brokers and its handling of faults, over a log that commits at once, or withholds that
before a failover. "live" needs 4.0 or newer; its timer fences a broker whose session ended before that broker can
register again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeAlias

from elrcheck.kafka import wire
from elrcheck.kafka.broker_steps import AskTruncation, BrokerAnswer, BrokerEvent, Together, TogetherAnswer, Truncated
from elrcheck.kafka.controller_steps import IndexAnswer, Setup, Step, StepAnswer
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import LineProcess, compiled, find_jdk, sources_of
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion

PROTOCOL = "3"
CONTROLLER = ("kafka/java/controller", "org.apache.kafka.controller.OracleMain")
BROKER = ("kafka/java/broker", "org.elrcheck.broker.BrokerMain")
IN_MEMORY = "/dev/shm"
READY = b'"ok"'
Mode: TypeAlias = Literal["kept", "fresh", "live"]
Walk: TypeAlias = tuple[Setup, Sequence[Step]]
Pairs: TypeAlias = list[tuple[bytes, bytes]]
"""Questions with their answers, as lines."""


class LineOracle:
    """Exchanges lines with one Java process. record: receives every question with its answer."""

    def __init__(self, process: LineProcess, record: Pairs | None = None) -> None:
        self._process, self._record = process, record
        self.version = process.kafka_version(PROTOCOL)

    def ask(self, questions: Sequence[wire.ControllerLine | BrokerEvent | Together | AskTruncation]) -> list[bytes]:
        """Return the answer to each question as a line."""
        lines = [wire.write(question) for question in questions]
        answers = self._process.ask(lines)
        if self._record is not None:
            self._record.extend(zip(lines, answers, strict=True))
        return answers


class ControllerOracle(LineOracle):
    """The controller's classes. Use `open_oracle`, which ends the process."""

    def builder(self, questions: Sequence[BuilderQuestion]) -> list[BuilderAnswer]:
        """Ask PartitionChangeBuilder."""
        return [wire.BUILDER_ANSWERS.read(line) for line in self.ask([*map(wire.AskBuilder, questions)])]

    def walks(self, walks: Sequence[Walk]) -> list[list[StepAnswer]]:
        """Ask the controller's managers; a walk has as many answers as steps."""
        return [[wire.STEP_ANSWERS.read(line) for line in lines] for lines in self.walked(walks)]

    def index_walks(self, walks: Sequence[Walk]) -> list[list[tuple[StepAnswer, IndexAnswer]]]:
        """Ask for walks, with the controller's indexes after each step."""
        both: list[tuple[Setup, list[wire.ControllerLine]]] = [
            (setup, [question for step in steps for question in (step, wire.AskIndexes())]) for setup, steps in walks
        ]
        return [
            [
                (wire.STEP_ANSWERS.read(step), wire.INDEX_ANSWERS.read(indexes))
                for step, indexes in zip(lines[::2], lines[1::2], strict=True)
            ]
            for lines in self.walked(both)
        ]

    def walked(self, walks: Sequence[tuple[Setup, Sequence[wire.ControllerLine]]]) -> list[list[bytes]]:
        """Load each setup and ask the questions after it; raise ValueError for a setup that Kafka refuses."""
        lines = iter(self.ask([question for setup, questions in walks for question in (wire.Load(setup), *questions)]))
        answers = []
        for setup, questions in walks:
            loaded = next(lines)
            if loaded != READY:
                raise ValueError(f"{loaded.decode('ascii')}: {setup}")
            answers.append([next(lines) for _ in questions])
        return answers

    def steps(self, steps: Sequence[tuple[Setup, Step]]) -> list[StepAnswer]:
        """Ask for walks of one step."""
        return [answers[0] for answers in self.walks([(setup, (step,)) for setup, step in steps])]


class BrokerOracle(LineOracle):
    """kafka.cluster.Partition with a log on disk. Use `open_broker_oracle`, which ends the process."""

    def walks(self, walks: Sequence[Sequence[BrokerEvent]]) -> list[list[BrokerAnswer]]:
        """Answer every event of every walk; a walk begins with a `Beginning`."""
        lines = iter(self.ask([event for walk in walks for event in walk]))
        return [[wire.BROKER_ANSWERS.read(next(lines)) for _ in walk] for walk in walks]

    def together(self, walks: Sequence[Sequence[Together]]) -> list[list[TogetherAnswer]]:
        """Answer what happens to several partitions; a walk begins with a `Beginning` of each."""
        lines = iter(self.ask([event for walk in walks for event in walk]))
        return [[wire.TOGETHER_ANSWERS.read(next(lines)) for _ in walk] for walk in walks]


class FollowerOracle(LineOracle):
    """kafka.server.ReplicaFetcherThread. Use `open_follower_oracle`, which ends the process."""

    def truncations(self, questions: Sequence[AskTruncation]) -> list[Truncated]:
        """Ask how far a follower truncates, with two new logs for each question."""
        return [wire.TRUNCATED.read(line) for line in self.ask(questions)]


@contextmanager
def open_oracle(
    class_path: ClassPath, mode: Mode = "kept", record: Pairs | None = None, records_of_a_batch: int | None = None
) -> Iterator[ControllerOracle]:
    """Start the controller's process, which ends with the block.

    record: receives every question with its answer. records_of_a_batch: of a live controller; None for Kafka's 10,000.
    """
    arguments = () if records_of_a_batch is None else (str(records_of_a_batch),)
    with _started(CONTROLLER, class_path, mode.upper(), *arguments) as process:
        yield ControllerOracle(process, record)


@contextmanager
def open_broker_oracle(class_path: ClassPath, record: Pairs | None = None) -> Iterator[BrokerOracle]:
    """Start a broker's process, which ends with the block. record: receives every question with its answer."""
    with _started_broker(class_path) as process:
        yield BrokerOracle(process, record)


@contextmanager
def open_follower_oracle(class_path: ClassPath, record: Pairs | None = None) -> Iterator[FollowerOracle]:
    """Start a process for a follower and its leader, which ends with the block."""
    with _started_broker(class_path) as process:
        yield FollowerOracle(process, record)


@contextmanager
def _started_broker(class_path: ClassPath) -> Iterator[LineProcess]:
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="elrcheck-broker-", dir=place) as folder,
        _started(BROKER, class_path, folder) as process,
    ):
        yield process


def _started(program: tuple[str, str], class_path: ClassPath, *arguments: str) -> LineProcess:
    """Start the program of a folder, compiling it if necessary."""
    folder, main = program
    jdk = find_jdk()
    classes = compiled(sources_of(folder), class_path, jdk)
    return LineProcess.start(jdk, main, (classes, *class_path.jars), *arguments)
