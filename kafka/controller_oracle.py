"""Kafka's controller classes behind the interface of `oracle.py`: a Java process that calls them.

The managers of a controller are made once and taken back to an earlier state for every setup ("kept"), which
is fast. To compare, each setup has managers of its own ("fresh"), or a whole QuorumController ("live") with
its event queue, its timer for stale brokers and its handling of faults, over a log that commits at once. That
is for 4.0 and newer; its timer fences a broker whose session ended before that broker can register again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from elrcheck.kafka import wire
from elrcheck.kafka.asked import BuilderAnswer, BuilderQuestion, ReassignmentAnswer, ReassignmentQuestion
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_process import LineProcess
from elrcheck.kafka.java_program import JavaProgram, compiled, find_jdk
from elrcheck.kafka.line_oracle import Answering, Keeping, Pairs
from elrcheck.kafka.oracle import Walk

PROTOCOL = "2"
MAIN = "org.apache.kafka.controller.OracleMain"
READY = b'"ok"'
Mode: TypeAlias = Literal["kept", "fresh", "live"]


class ControllerOracle:
    """Asks one Java process. Use `open_oracle`, which ends it."""

    def __init__(self, process: Answering) -> None:
        self._process = process
        name, protocol, version = process.greeting().split(" ")
        if (name, protocol) != ("elrcheck", PROTOCOL):
            raise wire.WireError(f"unexpected greeting: {name} {protocol}")
        self._version = version

    @property
    def version(self) -> str:
        return self._version

    def builder(self, questions: Sequence[BuilderQuestion]) -> list[BuilderAnswer]:
        lines = self._process.ask([wire.write(wire.AskBuilder(question)) for question in questions])
        return [wire.read_builder(line) for line in lines]

    def reassignments(self, questions: Sequence[ReassignmentQuestion]) -> list[ReassignmentAnswer]:
        lines = self._process.ask([wire.write(wire.AskReassignment(question)) for question in questions])
        return [wire.read_reassignment(line) for line in lines]

    def walks(self, walks: Sequence[Walk]) -> list[list[StepAnswer]]:
        questions: list[bytes] = []
        for setup, steps in walks:
            questions.append(wire.write(wire.Load(setup)))
            questions += [wire.write(step) for step in steps]
        lines = iter(self._process.ask(questions))
        answers = []
        for setup, steps in walks:
            loaded = next(lines)
            if loaded != READY:
                raise ValueError(f"{loaded.decode('ascii')}: {setup}")
            answers.append([wire.read_step(next(lines)) for _ in steps])
        return answers

    def steps(self, steps: Sequence[tuple[Setup, Step]]) -> list[StepAnswer]:
        return [answers[0] for answers in self.walks([(setup, (step,)) for setup, step in steps])]


@contextlib.contextmanager
def open_oracle(class_path: ClassPath, mode: Mode = "kept", keep: Pairs | None = None) -> Iterator[ControllerOracle]:
    """Start the process, compiling the driver if that was not done before; it ends with the block.

    keep: gets every question with its answer.
    """
    jdk = find_jdk()
    program = JavaProgram.of_folder("kafka/java/controller", MAIN)
    classes = compiled(program, class_path, jdk)
    with LineProcess.start(jdk, MAIN, (classes, *class_path.jars), mode.upper()) as process:
        yield ControllerOracle(process if keep is None else Keeping(process, keep))
