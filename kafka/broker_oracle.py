"""Kafka's broker side as an oracle: a Java process that drives kafka.cluster.Partition with a log on disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence

from elrcheck.kafka.broker_steps import BrokerAnswer, BrokerEvent
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_process import LineProcess
from elrcheck.kafka.java_program import JavaProgram, compiled, find_jdk
from elrcheck.kafka.line_oracle import Answering, Keeping, Pairs
from elrcheck.kafka.wire import WireError, read_broker_answer, write

PROTOCOL = "2"
MAIN = "org.elrcheck.broker.BrokerMain"
IN_MEMORY = "/dev/shm"


class BrokerOracle:
    """Asks one Java process. Use `open_broker_oracle`, which ends it."""

    def __init__(self, process: Answering) -> None:
        self._process = process
        name, protocol, version = process.greeting().split(" ")
        if (name, protocol) != ("elrcheck", PROTOCOL):
            raise WireError(f"unexpected greeting: {name} {protocol}")
        self._version = version

    @property
    def version(self) -> str:
        return self._version

    def walks(self, walks: Sequence[Sequence[BrokerEvent]]) -> list[list[BrokerAnswer]]:
        """Answer every event of every walk; a walk begins with a `Beginning`."""
        lines = iter(self._process.ask([write(event) for walk in walks for event in walk]))
        return [[read_broker_answer(next(lines)) for _ in walk] for walk in walks]


@contextlib.contextmanager
def open_broker_oracle(class_path: ClassPath, keep: Pairs | None = None) -> Iterator[BrokerOracle]:
    """Start the process, compiling the driver if that was not done before; it ends with the block.

    keep: gets every question with its answer.
    """
    jdk = find_jdk()
    classes = compiled(JavaProgram.of_folder("kafka/java/broker", MAIN), class_path, jdk)
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="elrcheck-broker-", dir=place) as folder,
        LineProcess.start(jdk, MAIN, (classes, *class_path.jars), folder) as process,
    ):
        yield BrokerOracle(process if keep is None else Keeping(process, keep))
