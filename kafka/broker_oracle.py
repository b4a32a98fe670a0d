"""Kafka's broker side as an oracle: a Java process that drives kafka.cluster.Partition with a log on disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache

from elrcheck.kafka.broker_steps import (
    Append,
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    FollowerFetch,
    Granted,
    LookForLag,
    Metadata,
    Proposed,
    Refused,
    Registered,
    Wait,
)
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_process import LineProcess
from elrcheck.kafka.java_program import JavaProgram, compiled, find_jdk
from elrcheck.kafka.line_oracle import Answering, Keeping, Pairs
from elrcheck.kafka.wire import ABSENT, EMPTY, WireError, ids, read_ids

PROTOCOL = "1"
MAIN = "org.elrcheck.broker.BrokerMain"
STATES = {"active": "a", "fenced": "f", "shutting down": "s"}
IN_MEMORY = "/dev/shm"
WORDS = 13


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
        lines = iter(self._process.ask([line_of(event) for walk in walks for event in walk]))
        return [[read_answer(next(lines)) for _ in walk] for walk in walks]


@lru_cache(1 << 16)
def line_of(event: BrokerEvent) -> bytes:
    """Write an event as one line."""
    match event:
        case Beginning(id, epoch, min_isr, lag):
            text = f"s {id} {epoch} {min_isr} {lag}"
        case Registered(brokers):
            text = "c " + ",".join(f"{b}:{epoch}:{STATES[state]}" for b, epoch, state in brokers)
        case Metadata(leader, leader_epoch, partition_epoch, replicas, isr):
            text = f"m {leader} {leader_epoch} {partition_epoch} {ids(replicas)} {ids(isr)}"
        case Append(acks):
            text = f"a {acks}"
        case FollowerFetch(follower, broker_epoch, offset, leader_epoch, last_epoch):
            text = f"r {follower} {broker_epoch} {offset} {leader_epoch} {last_epoch}"
        case LookForLag():
            text = "h"
        case Wait(milliseconds):
            text = f"w {milliseconds}"
        case Granted(leader_epoch, partition_epoch, isr):
            text = f"g {leader_epoch} {partition_epoch} {ids(isr)}"
        case Refused(error):
            text = f"e {error}"
    return text.encode("ascii")


@lru_cache(1 << 16)
def read_answer(line: bytes) -> BrokerAnswer:
    """Read an answer of thirteen words."""
    words = line.decode("ascii").split(" ")
    if len(words) != WORDS:
        raise WireError(f"not an answer of a broker: {line!r}")
    return BrokerAnswer(
        outcome=words[0],
        leads=words[1] == "1",
        leader_epoch=int(words[2]),
        partition_epoch=int(words[3]),
        log_end=int(words[4]),
        high_watermark=int(words[5]),
        epoch_start=None if words[6] == ABSENT else int(words[6]),
        isr=read_ids(words[7]),
        maximal_isr=read_ids(words[8]),
        in_flight=words[9] == "1",
        peers=_triples(words[10]),
        sent=_proposed(words[11]),
        produce=() if words[12] == EMPTY else tuple(words[12].split(",")),
    )


def _triples(word: str) -> tuple[tuple[int, int, int], ...]:
    if word == EMPTY:
        return ()
    split = (part.split(":") for part in word.split(","))
    return tuple((int(b), int(end), int(epoch)) for b, end, epoch in split)


def _proposed(word: str) -> Proposed | None:
    if word == ABSENT:
        return None
    leader_epoch, partition_epoch, members = word.split(":")
    pairs = (part.split("=") for part in members.split(","))
    return Proposed(
        int(leader_epoch), int(partition_epoch), tuple((int(b), int(epoch)) for b, epoch in pairs)
    )


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
